// Tables of text for a terminal: columns as wide as their widest cell, numbers to the right.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace shoal::cli {

enum class Align { left, right };

class TextTable {
 public:
  TextTable(std::vector<std::string> header, std::vector<Align> align);
  void add(std::vector<std::string> row);
  std::string text() const;

 private:
  std::vector<Align> align_;
  std::vector<std::vector<std::string>> rows_;
};

// In places on a terminal.
std::size_t widest_line(const std::string& text);

// A number with thousands separated, for a person to read.
std::string grouped(double value, int digits);

}  // namespace shoal::cli
