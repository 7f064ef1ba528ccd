// What a policy offers to somebody who types a question: its tables and columns as text, and the
// words that may complete what is typed. All of it is public: it comes from the policy alone.
#pragma once

#include "line_editor.hpp"

#include <shoal/catalog/policy.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace shoal::cli {

// All tables.
std::string schema_text(const catalog::Policy& policy);
// One table's columns. Throws not_found.
std::string schema_text(const catalog::Policy& policy, std::string_view table);

class PolicyWords {
 public:
  // `commands` begin with a backslash and complete only at the start of a line.
  PolicyWords(const catalog::Policy& policy, std::vector<std::string> commands);

  // Words that begin like the last one before the cursor, in any case of the letters. Behind
  // \schema these are the tables.
  Completions complete(std::string_view before_cursor) const;

 private:
  std::vector<std::string> words_;   // sorted, each once
  std::vector<std::string> tables_;  // as \schema takes them
  std::vector<std::string> commands_;
};

}  // namespace shoal::cli
