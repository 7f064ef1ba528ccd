#include "model_rows.hpp"

#include <shoal/base/error.hpp>
#include <shoal/base/file.hpp>
#include <shoal/base/text.hpp>

#include <fmt/format.h>

#include <cstdlib>

namespace shoal::cli {

learn::Model load_model(const std::string& path) { return learn::model_from_json(read_file(path)); }

RecordReader::RecordReader(const std::string& path, std::vector<data::ColumnRequest> requests)
    : rows_(path, "rows"), requests_(std::move(requests)) {
  const std::vector<std::string>& header = rows_.header();
  if (header.empty())
    throw Error(ErrorCode::invalid_argument, "the file is empty; it needs a header line");
  std::unordered_map<std::string, std::size_t> at;
  for (std::size_t i = 0; i < header.size(); ++i) at.emplace(header[i], i);
  for (const data::ColumnRequest& request : requests_) {
    const auto found = at.find(request.column);
    if (found == at.end()) {
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("the file has no column {}, which the model uses",
                              printable(request.column, 60)));
    }
    places_.push_back(found->second);
    auto& codes = codes_.emplace_back();
    for (std::size_t k = 0; k < request.categories.size(); ++k)
      codes.emplace(request.categories[k], static_cast<std::int32_t>(k));
  }
  cells_.resize(requests_.size());
}

bool RecordReader::next() {
  if (!rows_.next()) return false;
  for (std::size_t i = 0; i < cells_.size(); ++i) {
    cells_[i] = {};
    if (places_[i] >= rows_.fields().size()) continue;
    const std::string text(rows_.fields()[places_[i]]);
    if (requests_[i].categories.empty()) {
      char* end = nullptr;
      const double number = std::strtod(text.c_str(), &end);
      if (end != text.c_str() && *end == '\0') cells_[i].number = number;
    } else if (const auto code = codes_[i].find(text); code != codes_[i].end()) {
      cells_[i].category = code->second;
    }
  }
  return true;
}

}  // namespace shoal::cli
