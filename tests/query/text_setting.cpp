#include "query/text_setting.hpp"

#include "query/server_fixture.hpp"

#include <shoal/base/file.hpp>

#include <fmt/format.h>

#include <sstream>
#include <vector>

namespace shoal::test {
namespace {

// Steps through the rows by a prime that is none of their numbers' factors: each comes once, and no
// two of a person behind each other.
std::string scattered(const std::string& csv) {
  constexpr std::size_t kStride = 7919;
  std::istringstream lines(csv);
  std::string header;
  std::getline(lines, header);
  std::vector<std::string> rows;
  for (std::string line; std::getline(lines, line);) rows.push_back(line);
  std::string text = header + "\n";
  for (std::size_t i = 0; i < rows.size(); ++i) text += rows[i * kStride % rows.size()] + "\n";
  return text;
}

void declare_clustered(std::string& policy) {
  const std::string person = "\nperson_column = ";
  const std::string declared = "\nclustered = true";
  for (std::size_t at = policy.find(person); at != std::string::npos;
       at = policy.find(person, at + declared.size() + 1))
    policy.insert(at, declared);
}

}  // namespace

bool TextSetting::read(std::string_view argument) {
  const std::size_t at = argument.find('=');
  if (at == std::string_view::npos) return false;
  const std::string_view name = argument.substr(0, at);
  const std::string_view value = argument.substr(at + 1);
  if (name == "engine") {
    on_server_ = value == "postgresql";
    return on_server_;
  }
  if (name == "rows") {
    declared_ = value == "clustered" || value == "misdeclared";
    scattered_ = value == "scattered" || value == "misdeclared";
    return declared_ || scattered_;
  }
  if (name == "threads") threads_ = value;
  if (name == "memory") memory_ = value;
  return name == "threads" || name == "memory";
}

void TextSetting::place_tables(QueryFixture fixture, const std::filesystem::path& folder) const {
  if (scattered_) {
    for (auto& file : fixture.files) file.second = scattered(file.second);
  }
  if (on_server_) return fill_server(fixture);
  for (const auto& [name, text] : fixture.files)
    write_file_durably(folder / name, text, IfExists::replace);
}

std::string TextSetting::apply(std::string policy) const {
  if (declared_) declare_clustered(policy);
  if (on_server_) policy = server_policy(std::move(policy));
  if (threads_.empty() && memory_.empty()) return policy;
  policy += "[engine]\n";
  if (!threads_.empty()) policy += fmt::format("threads = {}\n", threads_);
  if (!memory_.empty()) policy += fmt::format("memory = \"{}\"\n", memory_);
  return policy;
}

}  // namespace shoal::test
