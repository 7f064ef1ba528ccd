// Rows of a CSV file as a model wants them.
#pragma once

#include "row_file.hpp"

#include <shoal/learn/model.hpp>

#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace shoal::cli {

// Throws not_found, parse_error and unsupported for what is no model file.
learn::Model load_model(const std::string& path);

// The cells of a CSV file's records. A field that is missing, or is neither a number nor listed
// where one is wanted, is a missing cell.
class RecordReader {
 public:
  // Throws invalid_argument if the header lacks a column.
  RecordReader(const std::string& path, std::vector<data::ColumnRequest> requests);

  bool next();
  std::span<const data::Cell> cells() const { return cells_; }

 private:
  RowFile rows_;
  std::vector<data::ColumnRequest> requests_;
  std::vector<std::size_t> places_;
  std::vector<std::unordered_map<std::string, std::int32_t>> codes_;
  std::vector<data::Cell> cells_;
};

}  // namespace shoal::cli
