// A line from a terminal: with editing, completion and a history that outlives the program. Built
// on libedit, whose licence (BSD) suits what users link.
//
// The history holds questions, never answers. It is readable by its owner alone (0600); where it
// cannot be written there is none, without a word: it is a comfort.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace shoal::cli {

// What may stand at the end of the text before the cursor: whole words, and how many bytes of the
// text the first part of each replaces.
struct Completions {
  std::size_t replaces = 0;
  std::vector<std::string> words;
};

class LineEditor {
 public:
  using Completer = std::function<Completions(std::string_view before_cursor)>;

  // An empty path: no history file. Throws unavailable if the terminal cannot be used.
  LineEditor(std::filesystem::path history, Completer completer);
  LineEditor(const LineEditor&) = delete;
  LineEditor& operator=(const LineEditor&) = delete;
  ~LineEditor();

  enum class Outcome { line, cancelled, ended };
  // A line without its end; cancelled by Ctrl-C, ended by Ctrl-D on an empty line.
  Outcome read(const std::string& prompt, std::string& line);

  struct State;

 private:
  void remember(const std::string& line);

  std::unique_ptr<State> state_;
};

// $XDG_STATE_HOME/shoal/history, or below ~/.local/state; empty if neither is known.
std::filesystem::path history_file();

}  // namespace shoal::cli
