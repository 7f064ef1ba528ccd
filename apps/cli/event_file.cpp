#include "event_file.hpp"

#include <shoal/base/error.hpp>
#include <shoal/base/file.hpp>
#include <shoal/base/text.hpp>

#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <iostream>
#include <iterator>

namespace shoal::cli {
namespace {

using Json = nlohmann::ordered_json;

std::string read_text(const std::string& path) {
  if (path != "-") {
    if (std::filesystem::is_directory(path)) {
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("{} is a folder; name a file", printable(path, 200)));
    }
    return read_file_head(path, kLargestEventFile + 1);
  }
  std::string text;
  std::string block(1 << 16, '\0');
  while (std::cin && text.size() <= kLargestEventFile) {
    std::cin.read(block.data(), static_cast<std::streamsize>(block.size()));
    text.append(block, 0, static_cast<std::size_t>(std::cin.gcount()));
  }
  return text;
}

std::string rounded(double value, bool up) {
  constexpr int kDigits = 6;
  if (value == 0) return "0";
  if (!std::isfinite(value)) return "infinity";
  const double size = std::pow(10.0, kDigits - 1 - std::floor(std::log10(std::abs(value))));
  if (!std::isfinite(size)) return format_number(value);
  // The product may be off by a rounding: the smaller (larger) whole number next to it is safe.
  const double scaled = value * size;
  const double slack = std::abs(scaled) * 1e-14;
  const double whole = up ? std::ceil(scaled + slack) : std::floor(scaled - slack);
  // A number of few digits is shown as it is.
  const double near = std::round(scaled);
  return format_rounded((std::abs(near - scaled) <= slack ? near : whole) / size, kDigits);
}

}  // namespace

privacy::Event read_event(const std::string& path) {
  const std::string name = path == "-" ? "standard input" : printable(path, 200);
  const std::string text = read_text(path);
  if (text.size() > kLargestEventFile) {
    throw Error(
        ErrorCode::invalid_argument,
        fmt::format("{} has more than {} bytes; is this an event?", name, kLargestEventFile));
  }
  try {
    return privacy::event_from_json(text);
  } catch (const Error& error) {
    throw Error(error.code(), fmt::format("{}: {}", name, error.what()));
  }
}

std::string rounded_up(double value) { return rounded(value, true); }
std::string rounded_down(double value) { return rounded(value, false); }

Json number_json(double value) {
  if (std::isinf(value)) return "infinity";
  return value;
}

Json bounds_json(const privacy::Bounds& bounds) {
  return {{"lower", number_json(bounds.lower)}, {"upper", number_json(bounds.upper)}};
}

}  // namespace shoal::cli
