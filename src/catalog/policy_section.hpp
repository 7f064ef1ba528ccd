// A table of the policy file while it is read: typed access to its keys, with line, key and remedy
// in every complaint.
#pragma once

#include <shoal/base/error.hpp>
#include <shoal/base/quantity.hpp>
#include <shoal/base/text.hpp>

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace shoal::catalog {

inline std::string place(const toml::node& node, const std::string& key) {
  return fmt::format("policy line {}: {}", node.source().begin.line, key);
}

[[noreturn]] inline void refuse(const toml::node& node, const std::string& key,
                                const std::string& why) {
  throw Error(ErrorCode::invalid_argument, fmt::format("{} {}", place(node, key), why));
}

[[noreturn]] inline void missing(const std::string& key, const char* example) {
  throw Error(ErrorCode::invalid_argument,
              fmt::format("the policy has no {}; add for example {}", key, example));
}

// A table of the file, with the path that leads to it.
class Section {
 public:
  Section(const toml::table& table, std::string path) : table_(table), path_(std::move(path)) {}

  std::string key(std::string_view name) const {
    return path_.empty() ? std::string(name) : fmt::format("{}.{}", path_, name);
  }

  void allow_only(std::initializer_list<const char*> names) const {
    std::vector<std::string> known(names.begin(), names.end());
    for (const auto& [name, node] : table_) {
      if (std::find(known.begin(), known.end(), name.str()) != known.end()) continue;
      const auto meant = nearest_name(name.str(), known);
      refuse(node, key(printable(name.str(), 60)),
             "is no key of a policy; " + (meant ? fmt::format("did you mean {}?", *meant)
                                                : "allowed here: " + join_names(known)));
    }
  }

  const toml::node* get(std::string_view name) const { return table_.get(name); }

  std::optional<Section> section(std::string_view name) const {
    const toml::node* node = get(name);
    if (!node) return std::nullopt;
    if (!node->is_table())
      refuse(*node, key(name), fmt::format("must be a section, [{}]", key(name)));
    return Section(*node->as_table(), key(name));
  }

  Section required_section(std::string_view name) const {
    auto found = section(name);
    if (!found)
      missing(fmt::format("section [{}]", key(name)), fmt::format("[{}]", key(name)).c_str());
    return *found;
  }

  std::optional<std::string> text(std::string_view name) const {
    const toml::node* node = get(name);
    if (!node) return std::nullopt;
    auto value = node->value_exact<std::string>();
    if (!value || value->empty()) refuse(*node, key(name), "must be a text in quotes");
    return value;
  }

  std::string required_text(std::string_view name, const char* example) const {
    auto value = text(name);
    if (!value) missing(key(name), example);
    return *value;
  }

  std::optional<double> number(std::string_view name) const {
    const toml::node* node = get(name);
    if (!node) return std::nullopt;
    if (!node->is_number()) refuse(*node, key(name), "must be a number");
    return node->value<double>();
  }

  std::optional<long long> whole(std::string_view name, long long least, long long most) const {
    const auto value = number(name);
    if (!value) return std::nullopt;
    if (!(*value >= static_cast<double>(least) && *value <= static_cast<double>(most) &&
          std::floor(*value) == *value)) {
      refuse(*get(name), key(name),
             fmt::format("is {}; it must be a whole number from {} to {}", format_number(*value),
                         least, most));
    }
    return static_cast<long long>(*value);
  }

  std::optional<bool> flag(std::string_view name) const {
    const toml::node* node = get(name);
    if (!node) return std::nullopt;
    if (!node->is_boolean()) refuse(*node, key(name), "must be true or false");
    return node->value<bool>();
  }

  std::optional<char> character(std::string_view name) const {
    const auto value = text(name);
    if (!value) return std::nullopt;
    if (value->size() != 1) refuse(*get(name), key(name), "must be one character");
    return value->front();
  }

  const toml::table& table() const { return table_; }

  // Its keys as the file has them: the reader of TOML sorts them by name.
  std::vector<std::string> names_in_order() const {
    std::vector<std::pair<toml::source_position, std::string>> found;
    for (const auto& [name, node] : table_) {
      found.emplace_back(name.source().begin, std::string(name.str()));
    }
    std::stable_sort(found.begin(), found.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<std::string> names;
    for (auto& [position, name] : found) names.push_back(std::move(name));
    return names;
  }
  const std::string& path() const { return path_; }

 private:
  const toml::table& table_;
  std::string path_;
};

// Runs a validating constructor and adds the key to its complaint.
template <typename Quantity>
Quantity quantity(const Section& section, std::string_view name, double value) {
  try {
    return Quantity(value);
  } catch (const Error& error) {
    refuse(*section.get(name), section.key(name), fmt::format("is wrong: {}", error.what()));
  }
}

inline Epsilon positive_epsilon(const Section& section, std::string_view name, double value) {
  if (!(value > 0)) {
    refuse(*section.get(name), section.key(name),
           fmt::format("is {}; it must be above 0", format_number(value)));
  }
  return quantity<Epsilon>(section, name, value);
}

}  // namespace shoal::catalog
