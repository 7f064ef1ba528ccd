#include <shoal/base/error.hpp>
#include <shoal/catalog/draft.hpp>
#include <shoal/catalog/redirect.hpp>

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <vector>

namespace shoal::catalog {
namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t end = std::min(text.find('\n', at), text.size() - 1) + 1;
    lines.push_back(text.substr(at, end - at));
    at = end;
  }
  return lines;
}

// Where the nth character begins: characters of UTF-8 have several bytes.
std::size_t byte_of(const std::string& line, std::size_t character) {
  std::size_t at = 0;
  while (at < line.size() && character > 0) {
    do ++at;
    while (at < line.size() && (static_cast<unsigned char>(line[at]) & 0xC0) == 0x80);
    --character;
  }
  return at;
}

[[noreturn]] void cannot(const std::string& table, const char* key) {
  throw Error(ErrorCode::unsupported,
              fmt::format("the policy says {} of table {} in a form that cannot be changed here; "
                          "write it on a line of its own, or change the policy by hand",
                          key, table));
}

// Puts another value in the place of one that is alone on its line but for a comment.
void replace(std::vector<std::string>& lines, const toml::node& node, const std::string& table,
             const char* key, const std::string& value) {
  const toml::source_region& where = node.source();
  if (where.begin.line != where.end.line) cannot(table, key);
  std::string& line = lines.at(where.begin.line - 1);
  const std::size_t begin = byte_of(line, where.begin.column - 1);
  const std::size_t end = byte_of(line, where.end.column - 1);
  const std::size_t next = line.find_first_not_of(" \t\r\n", end);
  if (line.find_first_not_of(" \t") != line.find(key) ||
      (next != std::string::npos && line[next] != '#')) {
    cannot(table, key);
  }
  line.replace(begin, end - begin, value);
}

}  // namespace

std::string redirect_table(const std::string& text, const std::string& table,
                           const std::string& source, bool clustered) {
  const toml::table file = toml::parse(text);
  const toml::table* section = file["table"][table].as_table();
  SHOAL_CHECK(section != nullptr);
  std::vector<std::string> lines = lines_of(text);
  replace(lines, *section->get("source"), table, "source", toml_text(source));
  replace(lines, *section->get("format"), table, "format", "\"parquet\"");
  const toml::node* order = section->get("clustered");
  if (order != nullptr) {
    replace(lines, *order, table, "clustered", clustered ? "true" : "false");
  } else if (clustered) {
    std::string& line = lines.at(section->get("format")->source().begin.line - 1);
    if (!line.ends_with('\n')) line += '\n';
    line += "clustered = true\n";
  }
  std::string changed;
  for (const std::string& line : lines) changed += line;
  return changed;
}

}  // namespace shoal::catalog
