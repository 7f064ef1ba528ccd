#include <shoal/base/error.hpp>
#include <shoal/base/text.hpp>
#include <shoal/synth/workload_text.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

namespace shoal::synth {
namespace {

using data::AttributeSet;

constexpr std::string_view kForms =
    "write all-3way, all-3way:column, or a list such as age*sex,age*income=5,prefix:age";

[[noreturn]] void refuse(const std::string& text) {
  throw Error(ErrorCode::invalid_argument, text);
}

std::string_view trimmed(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

// Parts without the spaces around them.
std::vector<std::string_view> split(std::string_view text, char by) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t end = text.find(by);
    parts.push_back(trimmed(text.substr(0, end)));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::optional<std::int64_t> whole_number(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::size_t place_of(std::string_view name, std::span<const std::string> names) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found != names.end()) return static_cast<std::size_t>(found - names.begin());
  const auto nearest = nearest_name(name, names);
  throw Error(
      ErrorCode::not_found,
      fmt::format("the workload names the column {}, which is not synthesised{}",
                  printable(name, 60), nearest ? fmt::format("; did you mean {}?", *nearest) : ""));
}

// Of "all-3way" or "all-3way:income"; none if it is a list.
std::optional<Workload> all_of(std::string_view text, std::span<const std::string> names) {
  const std::size_t colon = text.find(':');
  const std::string_view what = trimmed(text.substr(0, colon));
  if (!what.starts_with("all-") || !what.ends_with("way")) return std::nullopt;
  const auto ways = whole_number(what.substr(4, what.size() - 7));
  if (!ways || *ways < 1) return std::nullopt;
  std::optional<std::size_t> target;
  if (colon != std::string_view::npos) target = place_of(trimmed(text.substr(colon + 1)), names);
  return all_marginals(names.size(), static_cast<std::size_t>(*ways), target);
}

// Of "prefix:age" or "ranges:age"; none if it is a marginal.
std::optional<RangeFamily> family_of(std::string_view item, std::span<const std::string> names) {
  const bool prefixes = item.starts_with("prefix:");
  if (!prefixes && !item.starts_with("ranges:")) return std::nullopt;
  return RangeFamily{place_of(trimmed(item.substr(7)), names), prefixes};
}

WorkloadMarginal marginal_of(std::string_view item, std::string_view text,
                             std::span<const std::string> names) {
  const std::size_t equals = item.find('=');
  WorkloadMarginal marginal;
  if (equals != std::string_view::npos) {
    const auto weight = whole_number(trimmed(item.substr(equals + 1)));
    if (!weight) refuse(fmt::format("{} has no whole weight: {}", printable(item, 80), kForms));
    marginal.weight = *weight;
  }
  for (const std::string_view name : split(item.substr(0, equals), '*')) {
    if (name.empty()) {
      refuse(fmt::format("the workload {} has a marginal without a column: {}", printable(text, 80),
                         kForms));
    }
    marginal.set = marginal.set | AttributeSet::single(place_of(name, names));
  }
  return marginal;
}

}  // namespace

WorkloadRequest parse_request(std::string_view text, std::span<const std::string> names) {
  if (auto all = all_of(text, names)) return {*std::move(all), {}};
  WorkloadRequest request;
  for (const std::string_view item : split(text, ',')) {
    const auto family = family_of(item, names);
    if (!family) {
      request.marginals.push_back(marginal_of(item, text, names));
      continue;
    }
    if (std::find(request.ranges.begin(), request.ranges.end(), *family) != request.ranges.end())
      refuse(fmt::format("the workload lists {} twice", printable(item, 80)));
    request.ranges.push_back(*family);
  }
  return request;
}

Workload parse_workload(std::string_view text, std::span<const std::string> names) {
  WorkloadRequest request = parse_request(text, names);
  if (!request.ranges.empty())
    refuse("ranges are linear queries, for methods that take them (mwem, blr): list marginals");
  return std::move(request.marginals);
}

}  // namespace shoal::synth
