// A PostgreSQL server of the test program's own: made in a temporary folder, reached through a
// socket there and through no network, gone with the program, however that ends. PostgreSQL does
// not run as root, so for root it runs as the user postgres, or nobody.
//
// Throws if there is no PostgreSQL: tests that need one fail and say so (scripts/setup --tests
// installs it).
#pragma once

#include "support/child_process.hpp"
#include "support/temporary_folder.hpp"

#include <libpq-fe.h>
#include <pwd.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

namespace shoal::test {

class PostgresServer {
 public:
  // The program's only one. It points the PG* variables of the program at it.
  static PostgresServer& instance() {
    static PostgresServer server;
    return server;
  }

  PostgresServer(const PostgresServer&) = delete;
  PostgresServer& operator=(const PostgresServer&) = delete;

  ~PostgresServer() { crash(); }

  // Ends it at once, as `pg_ctl stop -m immediate` does: what was not on disk is gone.
  void crash() {
    PQfinish(connection_);
    connection_ = nullptr;
    if (process_ <= 0) return;
    ::kill(process_, SIGQUIT);
    wait_for_child(process_);
    process_ = -1;
  }

  // Starts it again after a crash; returns when it has recovered.
  void restart() {
    start();
    connect();
  }

  // As the server's owner, in autocommit: tables are made and filled with it.
  void run(const std::string& sql) {
    PGresult* result = PQexec(connection_, sql.c_str());
    const ExecStatusType status = PQresultStatus(result);
    const std::string reason = PQresultErrorMessage(result);
    PQclear(result);
    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK)
      throw std::runtime_error(reason + "\n" + sql.substr(0, 500));
  }

  // The first value of the first row.
  std::string value(const std::string& sql) {
    PGresult* result = PQexec(connection_, sql.c_str());
    const bool good = PQresultStatus(result) == PGRES_TUPLES_OK && PQntuples(result) > 0;
    const std::string text = good ? PQgetvalue(result, 0, 0) : PQresultErrorMessage(result);
    PQclear(result);
    if (!good) throw std::runtime_error(text + "\n" + sql.substr(0, 500));
    return text;
  }

 private:
  PostgresServer() {
    choose_user();
    const int made = wait_for_child(start_server_child({(programs_ / "initdb").string(), "-D",
                                                        data_, "-U", "postgres", "-A", "trust",
                                                        "-E", "UTF8", "--locale=C.UTF-8", "-N"}))
                         .status;
    if (made != 0) throw std::runtime_error("initdb failed; its words are above");
    start();
    for (const auto& [name, value] :
         {std::pair<const char*, std::string>{"PGHOST", folder_.path().string()},
          {"PGPORT", "5432"},
          {"PGUSER", "postgres"},
          {"PGDATABASE", "postgres"}})
      ::setenv(name, value.c_str(), 1);
    connect();
  }

  void start() {
    process_ = start_server_child(
        {(programs_ / "postgres").string(), "-D", data_, "-c", "listen_addresses=", "-c",
         "unix_socket_directories=" + folder_.path().string(), "-c", "autovacuum=off", "-c",
         "log_min_messages=panic", "-c", "max_connections=30"});
  }

  static std::filesystem::path find_programs() {
    std::filesystem::path newest;
    std::error_code ignored;
    for (const auto& version :
         std::filesystem::directory_iterator("/usr/lib/postgresql", ignored)) {
      const std::filesystem::path folder = version.path() / "bin";
      if (std::filesystem::exists(folder / "initdb") && folder > newest) newest = folder;
    }
    if (newest.empty())
      throw std::runtime_error("no PostgreSQL server is installed; run scripts/setup --tests");
    return newest;
  }

  void choose_user() {
    if (::geteuid() != 0) return;
    for (const char* name : {"postgres", "nobody"}) {
      const passwd* entry = ::getpwnam(name);
      if (!entry) continue;
      user_ = entry->pw_uid;
      group_ = entry->pw_gid;
      if (::chown(folder_.path().c_str(), user_, group_) != 0)
        throw std::runtime_error("cannot give the folder to another user");
      return;
    }
    throw std::runtime_error("there is no user to run PostgreSQL as");
  }

  // The child dies with this process.
  pid_t start_server_child(std::vector<std::string> words) const {
    return start_child([&] {
      if (user_ != 0 && (::setgid(group_) != 0 || ::setuid(user_) != 0)) return 96;
      ::prctl(PR_SET_PDEATHSIG, SIGQUIT);
      if (::chdir("/") != 0) return 95;
      if (std::freopen("/dev/null", "w", stdout) == nullptr) return 94;
      std::vector<char*> arguments;
      for (std::string& word : words) arguments.push_back(word.data());
      arguments.push_back(nullptr);
      ::execv(arguments[0], arguments.data());
      return 93;
    });
  }

  void connect() {
    for (int tries = 0; tries < 600; ++tries) {
      connection_ = PQconnectdb("");
      if (PQstatus(connection_) == CONNECTION_OK) {
        PQsetNoticeReceiver(
            connection_, [](void*, const PGresult*) {}, nullptr);
        return;
      }
      PQfinish(connection_);
      connection_ = nullptr;
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    throw std::runtime_error("the PostgreSQL server does not answer");
  }

  // A database is some 50 MB. The tests end the server, never the machine, so memory keeps what a
  // disk would.
  static Place place() {
    std::error_code error;
    const auto space = std::filesystem::space("/dev/shm", error);
    return !error && space.available > (std::uintmax_t{1} << 30) ? Place::memory : Place::disk;
  }

  TemporaryFolder folder_{place()};
  const std::filesystem::path programs_ = find_programs();
  const std::string data_ = (folder_ / "data").string();
  uid_t user_ = 0;
  gid_t group_ = 0;
  pid_t process_ = -1;
  PGconn* connection_ = nullptr;
};

}  // namespace shoal::test
