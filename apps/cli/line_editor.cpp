#include "line_editor.hpp"

#include <shoal/base/error.hpp>
#include <shoal/base/text.hpp>

#include <fcntl.h>
#include <histedit.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <clocale>
#include <cstdio>
#include <cstdlib>
#include <utility>

namespace shoal::cli {

struct LineEditor::State {
  std::filesystem::path path;
  Completer completer;
  EditLine* editor = nullptr;
  History* history = nullptr;
  std::string prompt;
  bool cancelled = false;
};

namespace {

constexpr int kLinesKept = 1000;

LineEditor::State& state_of(EditLine* editor) {
  void* state = nullptr;
  el_get(editor, EL_CLIENTDATA, &state);
  return *static_cast<LineEditor::State*>(state);
}

char* show_prompt(EditLine* editor) { return state_of(editor).prompt.data(); }

unsigned char cancel(EditLine* editor, int) {
  state_of(editor).cancelled = true;
  return CC_NEWLINE;
}

// The letters that all words begin with, in any case.
std::string common_start(const std::vector<std::string>& words) {
  std::string start = words.front();
  for (const std::string& word : words) {
    std::size_t same = 0;
    while (same < std::min(start.size(), word.size()) &&
           equals_ignoring_case(start.substr(same, 1), word.substr(same, 1))) {
      ++same;
    }
    start.resize(same);
  }
  return start;
}

void replace_before_cursor(EditLine* editor, std::size_t bytes, const std::string& text) {
  el_deletestr(editor, static_cast<int>(bytes));
  el_insertstr(editor, text.c_str());
}

void list(const std::vector<std::string>& words) {
  std::string text = "\n";
  for (const std::string& word : words) text += word + "  ";
  text += '\n';
  static_cast<void>(std::fwrite(text.data(), 1, text.size(), stdout));
  static_cast<void>(std::fflush(stdout));
}

unsigned char complete(EditLine* editor, int) {
  const LineInfo* info = el_line(editor);
  const std::string before(info->buffer, info->cursor);
  const Completions found = state_of(editor).completer(before);
  if (found.words.empty()) return CC_REFRESH_BEEP;
  if (found.words.size() == 1) {
    replace_before_cursor(editor, found.replaces, found.words.front() + " ");
    return CC_REFRESH;
  }
  const std::string start = common_start(found.words);
  if (start.size() > found.replaces) {
    replace_before_cursor(editor, found.replaces, start);
    return CC_REFRESH;
  }
  list(found.words);
  return CC_REDISPLAY;
}

// Nobody but the owner of the file is to read it, from its first byte on.
bool make_private_file(const std::filesystem::path& path) {
  std::error_code error;
  const auto folder = path.parent_path();
  if (!std::filesystem::exists(folder, error)) {
    if (!std::filesystem::create_directories(folder, error)) return false;
    std::filesystem::permissions(folder, std::filesystem::perms::owner_all, error);
  }
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0) return false;
  const bool made = ::fchmod(file, 0600) == 0;
  ::close(file);
  return made;
}

void open_history(LineEditor::State& state) {
  state.history = history_init();
  if (state.history == nullptr) return;
  HistEvent event;
  history(state.history, &event, H_SETSIZE, kLinesKept);
  history(state.history, &event, H_SETUNIQUE, 1);
  el_set(state.editor, EL_HIST, history, state.history);
  if (!state.path.empty() && make_private_file(state.path)) {
    history(state.history, &event, H_LOAD, state.path.c_str());
  } else {
    state.path.clear();
  }
}

}  // namespace

LineEditor::LineEditor(std::filesystem::path history, Completer completer)
    : state_(std::make_unique<State>()) {
  state_->path = std::move(history);
  state_->completer = std::move(completer);
  // Characters as the terminal has them; numbers stay as they are everywhere.
  static_cast<void>(std::setlocale(LC_CTYPE, ""));
  state_->editor = el_init("shoal", stdin, stdout, stderr);
  if (state_->editor == nullptr) {
    throw Error(ErrorCode::unavailable,
                "the terminal cannot be used for editing; give the questions on standard input");
  }
  EditLine* editor = state_->editor;
  el_set(editor, EL_CLIENTDATA, state_.get());
  el_set(editor, EL_PROMPT, show_prompt);
  el_set(editor, EL_EDITOR, "emacs");
  el_set(editor, EL_ADDFN, "shoal-complete", "complete a word", complete);
  el_set(editor, EL_ADDFN, "shoal-cancel", "give up the line", cancel);
  el_set(editor, EL_BIND, "^I", "shoal-complete", nullptr);
  el_set(editor, EL_BIND, "^R", "em-inc-search-prev", nullptr);
  // While a line is edited Ctrl-C is a key like any other; while a question runs it is a signal.
  el_set(editor, EL_SETTY, "-d", "-isig", nullptr);
  el_set(editor, EL_BIND, "^C", "shoal-cancel", nullptr);
  open_history(*state_);
  el_source(editor, nullptr);
}

LineEditor::~LineEditor() {
  if (state_->history != nullptr) history_end(state_->history);
  if (state_->editor != nullptr) el_end(state_->editor);
}

LineEditor::Outcome LineEditor::read(const std::string& prompt, std::string& line) {
  state_->prompt = prompt;
  state_->cancelled = false;
  int count = 0;
  // Before the prompt shows: left to itself libedit prints it first, and a Ctrl-C that comes
  // between would still be a signal.
  el_set(state_->editor, EL_PREP_TERM, 1);
  const char* text = el_gets(state_->editor, &count);
  if (state_->cancelled) {
    static_cast<void>(std::fputs("^C\n", stdout));
    static_cast<void>(std::fflush(stdout));
    // What was typed must not come back with the next line.
    el_reset(state_->editor);
    return Outcome::cancelled;
  }
  if (text == nullptr || count <= 0) return Outcome::ended;
  line.assign(text, static_cast<std::size_t>(count));
  while (line.ends_with('\n') || line.ends_with('\r')) line.pop_back();
  remember(line);
  return Outcome::line;
}

void LineEditor::remember(const std::string& line) {
  if (state_->history == nullptr || line.find_first_not_of(" \t") == std::string::npos) return;
  HistEvent event;
  history(state_->history, &event, H_ENTER, line.c_str());
  if (!state_->path.empty()) history(state_->history, &event, H_SAVE, state_->path.c_str());
}

std::filesystem::path history_file() {
  const char* state = std::getenv("XDG_STATE_HOME");
  // The standard has relative paths ignored.
  if (state != nullptr && state[0] == '/') return std::filesystem::path(state) / "shoal/history";
  const char* home = std::getenv("HOME");
  if (home == nullptr || home[0] != '/') return {};
  return std::filesystem::path(home) / ".local/state/shoal/history";
}

}  // namespace shoal::cli
