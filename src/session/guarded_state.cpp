#include "session/paid_flow.hpp"

#include <shoal/base/digest.hpp>
#include <shoal/base/error.hpp>
#include <shoal/base/file.hpp>
#include <shoal/base/text.hpp>
#include <shoal/random/secure_source.hpp>
#include <shoal/session/guarded_state.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <array>
#include <optional>
#include <utility>
#include <vector>

namespace shoal::session {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kFormat = 1;
constexpr const char* kTurnDigest = "turn";

std::string new_id() {
  random::SecureSource bits;
  std::string id;
  for (int i = 0; i < 2; ++i) id += fmt::format("{:016x}", bits.next_u64());
  return id;
}

// Of each turn its own, so that nobody moves what another is writing.
std::filesystem::path next_of(const std::filesystem::path& file, std::int64_t turn) {
  std::filesystem::path next = file;
  next += fmt::format(".next-{}", turn);
  return next;
}

std::string file_text(const StateInfo& info) {
  const Json json = {{"shoal_state", kFormat},
                     {"kind", info.kind},
                     {"id", info.id},
                     {"turn", info.turn},
                     {"ledger", info.ledger.string()},
                     {"lineage", info.lineage},
                     {"notes", Json::parse(info.notes)},
                     {"state", Json::parse(info.state)}};
  return json.dump() + "\n";
}

StateInfo parse(const std::string& text, const std::filesystem::path& file) {
  try {
    const Json json = Json::parse(text);
    if (json.at("shoal_state").get<int>() != kFormat) {
      throw Error(ErrorCode::corrupt, "it has another format");
    }
    return {json.at("kind").get<std::string>(),
            json.at("id").get<std::string>(),
            json.at("turn").get<std::int64_t>(),
            json.at("ledger").get<std::string>(),
            json.at("lineage").get<std::string>(),
            json.at("notes").dump(),
            json.at("state").dump()};
  } catch (const std::exception&) {
    throw Error(ErrorCode::corrupt, fmt::format("{} is no state that shoal wrote; restore it",
                                                printable(file.string(), 200)));
  }
}

std::string turn_key(const StateInfo& info, std::int64_t turn) {
  return fmt::format("state/{}/turn/{}", info.id, turn);
}

ledger::Request turn_request(const StateInfo& info, const privacy::Budget& budget,
                             int max_failures) {
  return {info.lineage,
          turn_key(info, info.turn),
          kTurnDigest,
          fmt::format("turn {} of {} {}", info.turn, info.kind, info.id.substr(0, 8)),
          "",
          budget,
          privacy::event::Compose{},
          max_failures};
}

[[noreturn]] void used_already(const std::filesystem::path& file) {
  throw Error(ErrorCode::conflict,
              fmt::format("{} was used from this point already: it is a copy, or an older file put "
                          "back, and answering from it again would give more than was paid for; "
                          "use the newest one, or create a new one",
                          printable(file.string(), 200)));
}

}  // namespace

void create_state(const NewState& request, const std::function<std::string()>& make) {
  if (std::filesystem::exists(request.file)) {
    throw Error(ErrorCode::conflict, fmt::format("{} exists; choose another name",
                                                 printable(request.file.string(), 200)));
  }
  ledger::Ledger ledger(request.ledger);
  ledger.open_account({request.lineage, request.budget, Neighbors::replace_one, request.unit});
  StateInfo info{request.kind,    new_id(),      0,   std::filesystem::absolute(request.ledger),
                 request.lineage, request.notes, "{}"};
  auto reserved = std::get<privacy::Reservation>(
      ledger.reserve({request.lineage, "state/" + info.id, "create", request.description, "",
                      request.budget, request.event}));
  try {
    info.state = make();
    write_file_durably(request.file, file_text(info), IfExists::refuse);
  } catch (...) {
    ledger.cancel(std::move(reserved));
    throw;
  }
  ledger.settle(std::move(reserved).spend(), "{\"state\": \"" + info.id + "\"}");
}

namespace {

void require_kind(const StateInfo& info, const std::string& kind,
                  const std::filesystem::path& file) {
  if (info.kind == kind) return;
  throw Error(ErrorCode::invalid_argument,
              fmt::format("{} is a {}, not a {}; name another file", printable(file.string(), 200),
                          printable(info.kind, 40), kind));
}

}  // namespace

StateInfo read_state(const std::filesystem::path& file, const std::string& kind) {
  StateInfo info = parse(read_file(file), file);
  require_kind(info, kind, file);
  return info;
}

struct StateTurn::Parts {
  std::filesystem::path file;
  StateInfo info;
  ledger::Ledger ledger;
  std::optional<privacy::Reservation> reservation;
};

namespace {

ledger::Ledger open_existing(const std::filesystem::path& path) {
  ledger::Options options;
  options.create = false;
  return ledger::Ledger(path, options);
}

privacy::Budget budget_of(ledger::Ledger& ledger, const std::string& lineage) {
  const auto account = ledger.account(lineage);
  if (account) return account->budget;
  throw Error(
      ErrorCode::not_found,
      fmt::format("the ledger has no budget named {}: it is not the one that this state was "
                  "paid in; restore it",
                  printable(lineage, 80)));
}

// A file that is not what the turn before it was settled with was changed, or is of an attempt
// whose answers never left.
void check_follows(const ledger::Ledger& ledger, const StateInfo& info, const std::string& text,
                   const std::filesystem::path& file) {
  if (info.turn == 0) return;
  const auto stored = ledger.stored(info.lineage, turn_key(info, info.turn - 1), kTurnDigest);
  if (stored && stored->answer == to_hex(sha256(text))) return;
  throw Error(ErrorCode::conflict,
              fmt::format("{} is not what its last turn left: it was changed, or is of another "
                          "ledger; restore the newest one",
                          printable(file.string(), 200)));
}

// Moves a file into place; whether it was there.
bool moved(const std::filesystem::path& from, const std::filesystem::path& to) {
  std::error_code failure;
  std::filesystem::rename(from, to, failure);
  if (failure == std::errc::no_such_file_or_directory) return false;
  if (failure) {
    throw Error(ErrorCode::io,
                fmt::format("cannot write {}: {}", printable(to.string(), 200), failure.message()));
  }
  sync_folder_of(to);
  return true;
}

// Moves the file that a settled turn left beside this one into place, if a crash kept its process
// from doing so.
bool moved_from_beside(const std::filesystem::path& file, std::int64_t turn,
                       const std::string& digest) {
  const std::filesystem::path next = next_of(file, turn);
  try {
    if (to_hex(sha256(read_file(next))) != digest) return false;
  } catch (const Error& error) {
    if (error.code() != ErrorCode::not_found) throw;
    return false;
  }
  return moved(next, file);
}

// Others may end turns while this one looks.
constexpr int kTries = 100;

}  // namespace

StateTurn::StateTurn(const std::filesystem::path& file, const std::string& kind, int max_failures) {
  for (int i = 0; i < kTries; ++i) {
    const std::string text = read_file(file);
    StateInfo info = parse(text, file);
    require_kind(info, kind, file);
    ledger::Ledger ledger = open_existing(info.ledger);
    const privacy::Budget budget = budget_of(ledger, info.lineage);
    check_follows(ledger, info, text, file);
    auto taken = ledger.reserve(turn_request(info, budget, max_failures));
    if (auto* reservation = std::get_if<privacy::Reservation>(&taken)) {
      parts_ = std::make_unique<Parts>(
          Parts{file, std::move(info), std::move(ledger), std::move(*reservation)});
      return;
    }
    const std::string& digest = std::get<ledger::StoredAnswer>(taken).answer;
    if (moved_from_beside(file, info.turn + 1, digest)) continue;
    if (read_state(file, kind).turn <= info.turn) used_already(file);
  }
  throw Error(ErrorCode::unavailable, fmt::format("{} is in use by others; try again in a moment",
                                                  printable(file.string(), 200)));
}

StateTurn::~StateTurn() {
  try {
    if (parts_ && parts_->reservation) finish(parts_->info.state);
  } catch (...) {
    // The turn stays taken; when this process is gone the next one takes it over.
  }
}

const StateInfo& StateTurn::info() const { return parts_->info; }

namespace {

// Writes the next state beside the file. Its digest.
std::string write_next(const std::filesystem::path& file, const StateInfo& info,
                       const std::string& next_state) {
  StateInfo next = info;
  next.turn += 1;
  next.state = next_state;
  const std::string text = file_text(next);
  write_file_durably(next_of(file, next.turn), text, IfExists::replace);
  return to_hex(sha256(text));
}

}  // namespace

void StateTurn::finish(const std::string& next_state) {
  Parts& parts = *parts_;
  SHOAL_CHECK(parts.reservation.has_value());
  privacy::Reservation reservation = std::move(*parts.reservation);
  parts.reservation.reset();
  const std::string digest = write_next(parts.file, parts.info, next_state);
  parts.ledger.settle(std::move(reservation).spend(), digest);
  // If it is gone, another process was quicker to move it.
  moved(next_of(parts.file, parts.info.turn + 1), parts.file);
}

void StateTurn::run(const OwnerLog& log, const AnswerClock& clock,
                    const std::function<std::string()>& work) {
  Parts& parts = *parts_;
  SHOAL_CHECK(parts.reservation.has_value());
  std::vector<ledger::Reserved> reserved;
  reserved.emplace_back(std::move(*parts.reservation));
  parts.reservation.reset();
  PaidFlow flow(parts.ledger, log, clock, fmt::format("a turn of a {} failed", parts.info.kind),
                std::move(reserved));
  const std::filesystem::path next = next_of(parts.file, parts.info.turn + 1);
  try {
    flow.run(
        0,
        [&](privacy::Reservation&& reservation) {
          std::string digest = write_next(parts.file, parts.info, work());
          return PaidWork{std::move(reservation).spend(), std::move(digest)};
        },
        [&] { return write_next(parts.file, parts.info, parts.info.state); });
  } catch (const Error&) {
    std::error_code ignored;
    std::filesystem::rename(next, parts.file, ignored);
    throw;
  }
  moved(next, parts.file);
  flow.finish();
}

}  // namespace shoal::session
