// A data set made by prepare.py: rows of cells, the public pipeline, and splits.
#pragma once

#include <shoal/catalog/policy.hpp>
#include <shoal/learn/features.hpp>
#include <shoal/learn/model.hpp>

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <numeric>
#include <sstream>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <vector>

namespace shoal::bench {

class LearningData {
 public:
  LearningData(const std::filesystem::path& folder, const std::string& target_name) {
    const catalog::Policy policy = catalog::load_policy(folder / "policy.toml");
    const catalog::Table& table = policy.tables.front();
    target = learn::target_of(table, target_name);
    pipeline = learn::pipeline_of(table, learn::usable_columns(table, target.column), 1, 1);
    // As shoal train has it: a constant only where no list of categories adds up to one.
    for (const learn::Feature& one : pipeline.features)
      if (std::holds_alternative<learn::CategoryFeature>(one)) pipeline.intercept = 0;
    requests_ = learn::column_requests(pipeline, target);
    for (const char* name : {"train.csv", "test.csv"}) read(folder / name);
  }

  std::size_t size() const { return cells_.size() / requests_.size(); }
  std::span<const data::Cell> row(std::size_t i) const {
    return std::span(cells_).subspan(i * requests_.size(), requests_.size());
  }

  // The first four fifths of a shuffle of the rows; the others are for the test.
  std::vector<std::size_t> shuffled(std::uint64_t seed) const {
    std::vector<std::size_t> order(size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::uint64_t state = seed * 0x9E3779B97F4A7C15u + 1;
    for (std::size_t i = order.size(); i > 1; --i) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      std::swap(order[i - 1], order[static_cast<std::size_t>(state >> 33) % i]);
    }
    return order;
  }
  std::size_t train_size() const { return size() * 4 / 5; }

  bool predicts_number() const { return target.categories.empty(); }
  double classes() const { return static_cast<double>(target.categories.size()); }
  // A norm that shortens no row: a column adds at most one feature of size one.
  double longest_row() const {
    const double columns = static_cast<double>(pipeline.features.size());
    return std::sqrt(columns + (pipeline.intercept != 0 ? 1 : 0)) * (1 + 0x1p-30);
  }

  std::unique_ptr<learn::MemoryRows> rows(std::span<const std::size_t> which) const {
    return rows(which, pipeline.row_norm);
  }
  std::unique_ptr<learn::MemoryRows> rows(std::span<const std::size_t> which,
                                          double row_norm) const {
    auto made = std::make_unique<learn::MemoryRows>(
        learn::dimension(pipeline), row_norm, classes() > 2 ? classes() : 1.0,
        predicts_number() || classes() > 2 ? learn::LabelKind::number : learn::LabelKind::sign);
    std::vector<std::uint32_t> columns;
    std::vector<double> values;
    for (const std::size_t i : which) {
      learn::encode(pipeline, row(i).first(requests_.size() - 1), columns, values);
      made->add_sparse(columns, values, learn::label_of(target, row(i).back()).value_or(-1));
    }
    return made;
  }

  learn::Pipeline pipeline;
  learn::Target target;

 private:
  // Plain CSV: the prepared files quote nothing that the benchmark uses.
  void read(const std::filesystem::path& path) {
    std::ifstream file(path);
    if (!file) throw std::runtime_error("no file " + path.string());
    std::string line;
    std::getline(file, line);
    std::unordered_map<std::string, std::size_t> places;
    for (const std::string& name : split(line)) places.emplace(name, places.size());
    while (std::getline(file, line)) {
      const std::vector<std::string> fields = split(line);
      for (const data::ColumnRequest& request : requests_) {
        data::Cell& cell = cells_.emplace_back();
        const std::string& text = fields.at(places.at(request.column));
        char* end = nullptr;
        const double number = std::strtod(text.c_str(), &end);
        if (request.categories.empty() && end != text.c_str()) cell.number = number;
        for (std::size_t k = 0; k < request.categories.size(); ++k)
          if (request.categories[k] == text) cell.category = static_cast<std::int32_t>(k);
      }
    }
  }
  static std::vector<std::string> split(const std::string& line) {
    std::vector<std::string> fields;
    std::stringstream parts(line);
    for (std::string field; std::getline(parts, field, ',');) fields.push_back(field);
    return fields;
  }

  std::vector<data::ColumnRequest> requests_;
  std::vector<data::Cell> cells_;
};

}  // namespace shoal::bench
