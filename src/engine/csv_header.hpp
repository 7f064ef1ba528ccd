// Whether the first row of a CSV file holds names or somebody's data. Data taken for names would be
// shown to every analyst, in the policy and in messages.
#pragma once

#include <shoal/catalog/policy.hpp>

#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace shoal::engine {

struct HeaderProblem {
  std::size_t fields;  // of the first row
  std::string why;     // in words that quote no field
};

// What speaks against `first` as a header: a field that is a number, a date or a truth value, as
// most of the values below it are; or a text that stands below it again and again. None if nothing
// does.
std::optional<HeaderProblem> header_problem(std::span<const std::string> first,
                                            std::span<const std::vector<std::string>> below);

// The same for the first rows of a file. Throws not_found, io.
std::optional<HeaderProblem> header_problem(const std::filesystem::path& path,
                                            const catalog::CsvFormat& format);

}  // namespace shoal::engine
