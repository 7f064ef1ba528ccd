#include <shoal/base/text.hpp>
#include <shoal/catalog/draft.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace shoal::catalog {
namespace {

std::string column_text(const Table& table, const Column& column) {
  std::string text = fmt::format("[table.{}.column.{}]\ntype = \"{}\"\n", toml_key(table.name),
                                 toml_key(column.name), to_string(column.type));
  if (column.bounds) {
    text += fmt::format("bounds = [{}, {}]\n", format_number(column.bounds->lower),
                        format_number(column.bounds->upper));
  } else if (is_numeric(column.type) && column.name != table.person_column) {
    text +=
        "# bounds = [0, 100]         # public bounds, for SUM and AVG: values outside are clamped "
        "to them\n";
  }
  if (column.type == ColumnType::text)
    text += "# categories = [\"a\", \"b\"]   # public list of values\n";
  if (column.type == ColumnType::other) text += "# values of this type cannot be queried\n";
  return text + "\n";
}

std::string unit_comment(const Policy& policy) {
  if (policy.unit == PrivacyUnit::row) {
    return "# \"row\": one row is protected. If a person can have several rows, that is too weak: "
           "set unit to\n"
           "# \"person\" and give person_column and max_rows_per_person in each table.\n";
  }
  return "# \"person\": all rows of one person are protected; person_column says whose a row is.\n";
}

std::string table_text(const Policy& policy, const Table& table) {
  std::string text = fmt::format("[table.{}]\nsource = {}\nformat = \"{}\"\n", toml_key(table.name),
                                 toml_text(table.source.string()),
                                 table.format == SourceFormat::csv ? "csv" : "parquet");
  if (table.format == SourceFormat::csv) {
    text +=
        fmt::format("delimiter = {}\nquote = {}\n", toml_text(std::string(1, table.csv.delimiter)),
                    toml_text(std::string(1, table.csv.quote)));
    std::string names;
    for (const std::string& name : table.csv.header)
      names += (names.empty() ? "" : ", ") + toml_text(name);
    if (!names.empty())
      text += fmt::format("header = [{}]   # the file has no line of names\n", names);
  }
  if (table.is_public) {
    text += "public = true   # its rows are no secret\n";
  } else if (policy.unit == PrivacyUnit::person) {
    text += fmt::format("person_column = {}\n", toml_text(table.person_column));
    text += table.max_rows_per_person
                ? fmt::format("max_rows_per_person = {}\n", *table.max_rows_per_person)
                : "# max_rows_per_person = 10  # of a person with more rows, only so many count\n";
    text +=
        "# max_groups_per_person = 3   # in a grouped answer a person counts in so many groups,\n"
        "# max_rows_per_group = 5      # with so many rows in each\n";
  }
  text += "\n";
  for (const Column& column : table.columns) text += column_text(table, column);
  return text;
}

}  // namespace

std::string toml_text(const std::string& text) {
  std::string quoted = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      quoted += '\\';
      quoted += c;
    } else if (c == '\t') {
      quoted += "\\t";
    } else if (byte < 0x20 || byte == 0x7F) {
      quoted += fmt::format("\\u{:04X}", byte);
    } else {
      quoted += c;
    }
  }
  return quoted + "\"";
}

std::string toml_key(const std::string& name) {
  const bool bare = !name.empty() && std::all_of(name.begin(), name.end(), [](unsigned char c) {
    return (c < 0x80 && std::isalnum(c)) || c == '_' || c == '-';
  });
  return bare ? name : toml_text(name);
}

std::string toml_number(double value) {
  const std::string text = format_number(value);
  return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
}

std::string draft_policy(const Policy& policy) {
  std::string text = fmt::format(
      "# Policy of the data set {}: what is protected, and how much may leak in total.\n"
      "# Fill in what is commented out from public knowledge, never from the data itself.\n\n"
      "[dataset]\nname = {}\n"
      "lineage = {}   # names the budget; every copy of this data must keep it\n\n",
      policy.name, toml_text(policy.name), toml_text(policy.lineage));
  text += fmt::format("[privacy]\n{}unit = \"{}\"\n", unit_comment(policy),
                      policy.unit == PrivacyUnit::row ? "row" : "person");
  text += fmt::format(
      "# \"add_remove\": whether somebody is in the data stays hidden. \"replace_one\": what "
      "somebody's rows\n"
      "# say stays hidden, the number of people is public.\n"
      "neighbors = \"{}\"\n\n",
      to_string(policy.neighbors));
  text += fmt::format(
      "[budget]\n"
      "epsilon = {}    # the total of all answers, ever. 1 is cautious, 10 is weak\n"
      "delta = {}    # well below 1 / number of people; 0 for pure differential privacy\n"
      "# max_epsilon_per_query = 0.5\n"
      "ledger = {}   # every spend, durable; keep it with the data and back it up\n"
      "# witness = \"/mnt/other/people.witness\"   # notices a ledger that was set back; on "
      "another "
      "disk\n\n",
      toml_number(policy.epsilon.value()), toml_number(policy.delta.value()),
      toml_text(policy.ledger.string()));
  text +=
      "# [query]\n"
      "# epsilon = 0.1        # of a question that does not say its own\n"
      "# confidence = 0.95    # of the intervals\n"
      "# min_units = 5        # groups of fewer never show\n\n"
      "# [engine]\n"
      "# threads = 2          # of the data engine; default: one a core\n"
      "# memory = \"4GB\"       # its limit; default: most of the machine's\n\n";
  for (const Table& table : policy.tables) text += table_text(policy, table);
  text.pop_back();
  return text;
}

}  // namespace shoal::catalog
