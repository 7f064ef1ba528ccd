#include "ledger/sqlite.hpp"

#include "ledger/ledger_files.hpp"

#include <shoal/base/error.hpp>
#include <shoal/base/text.hpp>

#include <fmt/format.h>
#include <sqlite3.h>

#include <utility>

namespace shoal::ledger {

namespace {

// A name that SQLite takes as it stands: one that begins with "file:" is an address to it.
std::string plain_name(const std::filesystem::path& path) {
  return path.is_absolute() ? path.string() : "./" + path.string();
}

std::string immutable_address(const std::filesystem::path& path) {
  std::string address = "file:";
  for (const char c : plain_name(path)) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '/' || c == '.' || c == '_' || c == '-';
    address += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return address + "?immutable=1";
}

int flags_of(Access access) {
  switch (access) {
    case Access::create:
      return SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
    case Access::write:
      return SQLITE_OPEN_READWRITE;
    case Access::read:
      return SQLITE_OPEN_READONLY;
    case Access::immutable:
      return SQLITE_OPEN_READONLY | SQLITE_OPEN_URI;
  }
  return SQLITE_OPEN_READONLY;
}

}  // namespace

Connection::Connection(const std::filesystem::path& path, Access access, const std::string& vfs,
                       int busy_milliseconds)
    : path_(path) {
  const std::string name = access == Access::immutable ? immutable_address(path) : plain_name(path);
  const int code = sqlite3_open_v2(name.c_str(), &handle_, flags_of(access) | SQLITE_OPEN_NOMUTEX,
                                   vfs.empty() ? nullptr : vfs.c_str());
  if (code == SQLITE_OK) {
    sqlite3_extended_result_codes(handle_, 1);
    sqlite3_busy_timeout(handle_, busy_milliseconds);
    return;
  }
  try {
    fail(code);
  } catch (...) {
    sqlite3_close_v2(handle_);
    throw;
  }
}

Connection::Connection(Connection&& other) noexcept
    : path_(std::move(other.path_)),
      handle_(std::exchange(other.handle_, nullptr)),
      idle_(std::exchange(other.idle_, {})) {}

Connection& Connection::operator=(Connection&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(handle_, other.handle_);
  std::swap(idle_, other.idle_);
  return *this;
}

Connection::~Connection() { close(); }

void Connection::close() {
  for (const auto& [sql, statement] : idle_) sqlite3_finalize(statement);
  idle_.clear();
  sqlite3_close_v2(std::exchange(handle_, nullptr));
}

void Connection::run(const char* sql) {
  const int code = sqlite3_exec(handle_, sql, nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) fail(code);
}

void Connection::fail(int code) const {
  const std::string file = path_.string();
  // A damaged schema stands in the message as it is.
  std::string reason = handle_ ? sqlite3_errmsg(handle_) : sqlite3_errstr(code);
  if (!is_utf8(reason, false)) reason = sqlite3_errstr(code);
  reason = printable(reason, 200);
  const int kind = code & 0xFF;
  if (kind == SQLITE_FULL ||
      ((kind == SQLITE_IOERR || kind == SQLITE_CANTOPEN) && disk_is_full(path_))) {
    throw Error(ErrorCode::io,
                fmt::format("the disk of the ledger {} is full; nothing was spent. Free some "
                            "space and ask again; stored answers and shoal budget need none",
                            file));
  }
  switch (kind) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    // Somebody holds the lock of a log that is yet to be made or recovered.
    case SQLITE_PROTOCOL:
      throw Error(ErrorCode::unavailable, busy_sentence(path_));
    case SQLITE_READONLY:
    case SQLITE_PERM:
      throw Error(
          ErrorCode::io,
          fmt::format("the ledger {} is read-only; a spend must be written before data is read, so "
                      "make the file and its folder writable",
                      file));
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
    case SQLITE_FORMAT:
      throw Error(
          ErrorCode::corrupt,
          fmt::format(
              "{} is damaged or no ledger ({}); restore it from a backup that is newer than "
              "the last answer",
              file, reason));
    case SQLITE_CANTOPEN:
      throw Error(
          ErrorCode::io,
          fmt::format("cannot open the ledger {}; check the folder and its permissions", file));
    case SQLITE_CONSTRAINT:
      throw Error(ErrorCode::conflict,
                  fmt::format("the ledger {} refused an entry ({})", file, reason));
    default:
      throw Error(ErrorCode::io, fmt::format("the ledger {} cannot be used: {}", file, reason));
  }
}

Statement::Statement(const Connection& connection, const char* sql)
    : connection_(connection), sql_(sql) {
  const auto idle = connection.idle_.find(sql_);
  if (idle != connection.idle_.end()) {
    statement_ = idle->second;
    connection.idle_.erase(idle);
    return;
  }
  const int code = sqlite3_prepare_v3(connection.handle(), sql, -1, SQLITE_PREPARE_PERSISTENT,
                                      &statement_, nullptr);
  if (code != SQLITE_OK) connection.fail(code);
}

// What went wrong was told by step(): the code of the reset says it once more.
Statement::~Statement() {
  sqlite3_reset(statement_);
  sqlite3_clear_bindings(statement_);
  if (!connection_.idle_.emplace(sql_, statement_).second) sqlite3_finalize(statement_);
}

Statement& Statement::bind(int index, std::int64_t value) {
  const int code = sqlite3_bind_int64(statement_, index, value);
  if (code != SQLITE_OK) connection_.fail(code);
  return *this;
}

Statement& Statement::bind(int index, std::string_view value) {
  const int code = sqlite3_bind_text64(statement_, index, value.data(), value.size(),
                                       SQLITE_TRANSIENT, SQLITE_UTF8);
  if (code != SQLITE_OK) connection_.fail(code);
  return *this;
}

Statement& Statement::bind(int index, std::optional<std::int64_t> value) {
  if (value) return bind(index, *value);
  const int code = sqlite3_bind_null(statement_, index);
  if (code != SQLITE_OK) connection_.fail(code);
  return *this;
}

bool Statement::step() {
  const int code = sqlite3_step(statement_);
  if (code == SQLITE_ROW) return true;
  if (code != SQLITE_DONE) connection_.fail(code);
  return false;
}

std::int64_t Statement::integer(int column) const {
  return sqlite3_column_int64(statement_, column);
}

std::optional<std::int64_t> Statement::optional_integer(int column) const {
  if (sqlite3_column_type(statement_, column) == SQLITE_NULL) return std::nullopt;
  return integer(column);
}

std::string Statement::text(int column) const {
  const auto* bytes = reinterpret_cast<const char*>(sqlite3_column_text(statement_, column));
  const int size = sqlite3_column_bytes(statement_, column);
  return bytes ? std::string(bytes, static_cast<std::size_t>(size)) : std::string();
}

Transaction::Transaction(Connection& connection) : connection_(connection) {
  Statement(connection_, "BEGIN IMMEDIATE").step();
}

Transaction::~Transaction() {
  if (open_) sqlite3_exec(connection_.handle(), "ROLLBACK", nullptr, nullptr, nullptr);
}

void Transaction::commit() {
  Statement(connection_, "COMMIT").step();
  open_ = false;
}

}  // namespace shoal::ledger
