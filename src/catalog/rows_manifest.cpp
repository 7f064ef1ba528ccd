#include <shoal/base/error.hpp>
#include <shoal/base/file.hpp>
#include <shoal/catalog/draft.hpp>
#include <shoal/catalog/rows_manifest.hpp>

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <stdexcept>

namespace shoal::catalog {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kVersion = 1;
constexpr const char* kManifest = "rows.toml";
constexpr const char* kLock = "lock";
constexpr const char* kSnapshot = "snapshot";
constexpr const char* kPinned = "pinned";

fs::path real_path(const fs::path& path) {
  std::error_code error;
  const fs::path real = fs::weakly_canonical(path, error);
  return error ? fs::absolute(path).lexically_normal() : real;
}

std::string text_of(const toml::table& entry, const char* key) {
  return entry[key].value_exact<std::string>().value();
}

std::int64_t number_of(const toml::table& entry, const char* key) {
  const std::int64_t number = entry[key].value_exact<std::int64_t>().value();
  return number;
}

FileStamp stamp_of(const toml::table& entry, const char* bytes, const char* time) {
  const std::int64_t size = number_of(entry, bytes);
  if (size < 0) throw std::range_error("a size below 0");
  return {static_cast<std::uint64_t>(size), number_of(entry, time)};
}

SettledRows entry_of(const toml::table& entry) {
  SettledRows rows;
  rows.signature = text_of(entry, "signature");
  const std::string kind = text_of(entry, "kind");
  if (kind != kSnapshot && kind != kPinned) throw std::range_error("no such kind");
  rows.kind = kind == kSnapshot ? SettledKind::snapshot : SettledKind::pinned;
  rows.source = stamp_of(entry, "source_bytes", "source_time_ns");
  rows.source_sha256 = text_of(entry, "source_sha256");
  rows.rows = number_of(entry, "rows");
  const toml::array* problems = entry["problems"].as_array();
  for (std::size_t i = 0; problems && i < problems->size(); ++i) {
    const toml::table* problem = problems->get(i)->as_table();
    if (!problem) throw std::range_error("no table");
    rows.problems.push_back(
        {text_of(*problem, "column"), number_of(*problem, "rows"), text_of(*problem, "what")});
  }
  if (rows.kind == SettledKind::pinned) return rows;
  rows.file = text_of(entry, "file");
  // A name alone: what is read lies in the folder.
  if (rows.file.empty() || fs::path(rows.file).filename() != rows.file)
    throw std::range_error("no plain name");
  rows.stamp = stamp_of(entry, "file_bytes", "file_time_ns");
  rows.file_sha256 = text_of(entry, "file_sha256");
  return rows;
}

std::string text_of(const SettledRows& rows) {
  std::string text = fmt::format(
      "\n[[settled]]\nsignature = {}\nkind = \"{}\"\nrows = {}\nsource_bytes = {}\n"
      "source_time_ns = {}\nsource_sha256 = {}\n",
      toml_text(rows.signature), rows.kind == SettledKind::snapshot ? kSnapshot : kPinned,
      rows.rows, rows.source.bytes, rows.source.time_ns, toml_text(rows.source_sha256));
  if (!rows.problems.empty()) text += "problems = [\n";
  for (const RowProblem& problem : rows.problems) {
    text += fmt::format("  {{column = {}, rows = {}, what = {}}},\n", toml_text(problem.column),
                        problem.rows, toml_text(problem.what));
  }
  if (!rows.problems.empty()) text += "]\n";
  if (rows.kind == SettledKind::pinned) return text;
  return text + fmt::format("file = {}\nfile_bytes = {}\nfile_time_ns = {}\nfile_sha256 = {}\n",
                            toml_text(rows.file), rows.stamp.bytes, rows.stamp.time_ns,
                            toml_text(rows.file_sha256));
}

}  // namespace

fs::path rows_folder(const fs::path& data) { return real_path(data).string() + ".rows"; }

RowsManifest RowsManifest::empty(const fs::path& data) {
  RowsManifest manifest;
  manifest.folder_ = rows_folder(data);
  return manifest;
}

RowsManifest::RowsManifest(const fs::path& data) : folder_(rows_folder(data)) {
  const fs::path path = folder_ / kManifest;
  std::error_code ignored;
  if (!fs::exists(path, ignored)) return;
  try {
    const toml::table file = toml::parse(read_file(path));
    if (number_of(file, "version") != kVersion) throw std::range_error("another version");
    const toml::array* entries = file["settled"].as_array();
    for (std::size_t i = 0; entries && i < entries->size(); ++i) {
      const toml::table* entry = entries->get(i)->as_table();
      if (!entry) throw std::range_error("no table");
      settled_.push_back(entry_of(*entry));
    }
  } catch (const Error&) {
    throw;
  } catch (const std::exception&) {
    throw Error(ErrorCode::corrupt,
                fmt::format("{} cannot be read; it says which rows questions read: let the owner "
                            "write it anew with shoal import POLICY",
                            path.string()));
  }
}

const SettledRows* RowsManifest::find(const std::string& signature) const {
  const auto found = std::find_if(settled_.begin(), settled_.end(), [&](const SettledRows& rows) {
    return rows.signature == signature;
  });
  return found == settled_.end() ? nullptr : &*found;
}

void RowsManifest::put(const SettledRows& rows) {
  std::erase_if(settled_, [&](const SettledRows& other) {
    return other.signature == rows.signature || other.source_sha256 != rows.source_sha256;
  });
  settled_.push_back(rows);
  std::string text =
      "# Which rows questions about the data beside this folder read; written by shoal. Nothing "
      "in\n"
      "# here is to be changed, and all of it is as private as the data.\n";
  text += fmt::format("version = {}\n", kVersion);
  for (const SettledRows& one : settled_) text += text_of(one);
  write_file_durably(folder_ / kManifest, text, IfExists::replace);
}

void RowsManifest::remove_the_rest() const {
  // A snapshot, its marker and whatever locks that.
  const auto kept = [&](const std::string& name) {
    if (name == kManifest || name == kLock) return true;
    return !name.ends_with(".tmp") &&
           std::any_of(settled_.begin(), settled_.end(), [&](const SettledRows& rows) {
             return rows.kind == SettledKind::snapshot && name.starts_with(rows.file);
           });
  };
  try {
    std::vector<fs::path> others;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder_)) {
      if (!kept(entry.path().filename().string())) others.push_back(entry.path());
    }
    for (const fs::path& other : others) fs::remove_all(other);
  } catch (const fs::filesystem_error& error) {
    throw Error(ErrorCode::io, fmt::format("cannot remove {}: {}", error.path1().string(),
                                           error.code().message()));
  }
}

}  // namespace shoal::catalog
