#include "session/guarded_state.hpp"

#include "session/paid_flow.hpp"

#include <shoal/base/digest.hpp>
#include <shoal/base/error.hpp>
#include <shoal/base/file.hpp>
#include <shoal/base/ledger_place.hpp>
#include <shoal/base/locked_file.hpp>
#include <shoal/base/temporary_file.hpp>
#include <shoal/base/text.hpp>
#include <shoal/random/secure_source.hpp>

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

// Each attempt at a turn has a file of its own, so that nobody moves or replaces what another is
// writing.
std::filesystem::path next_of(const std::filesystem::path& file, std::int64_t turn,
                              const std::string& digest) {
  std::filesystem::path next = file;
  next += fmt::format(".next-{}-{}", turn, digest.substr(0, 16));
  return next;
}

// The files of attempts that lie beside a state.
std::vector<std::filesystem::path> attempts_of(const std::filesystem::path& file) {
  std::vector<std::filesystem::path> found;
  const std::string start = file.filename().string() + ".next-";
  const std::filesystem::path folder = file.has_parent_path() ? file.parent_path() : ".";
  std::error_code failure;
  for (std::filesystem::directory_iterator entry(folder, failure), end; !failure && entry != end;
       entry.increment(failure)) {
    if (entry->path().filename().string().starts_with(start)) found.push_back(entry->path());
  }
  return found;
}

std::string file_text(const StateInfo& info) {
  const Json json = {{"shoal_state", kFormat},
                     {"kind", info.kind},
                     {"id", info.id},
                     {"turn", info.turn},
                     {"ledger", info.ledger.string()},
                     {"lineage", info.lineage},
                     {"data", info.data.string()},
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
            json.value("data", std::string()),
            json.at("notes").dump(),
            json.at("state").dump()};
  } catch (const std::exception&) {
    throw Error(ErrorCode::corrupt, fmt::format("{} is no state that shoal wrote; restore it",
                                                printable(file.string(), 200)));
  }
}

std::string creation_key(const StateInfo& info) { return "state/" + info.id; }

// What its spend is settled with: not what a failure is.
std::string creation_text(const StateInfo& info) { return "{\"state\": \"" + info.id + "\"}"; }

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

[[noreturn]] void unknown_account(const StateInfo& info, const std::filesystem::path& file) {
  throw Error(ErrorCode::not_found,
              fmt::format("the ledger {} is not there, or has no budget {}: it is not the one that "
                          "{} was paid in; restore it",
                          info.ledger.string(), printable(info.lineage, 80),
                          printable(file.string(), 200)));
}

[[noreturn]] void used_already(const std::filesystem::path& file) {
  throw Error(ErrorCode::conflict,
              fmt::format("{} was used from this point already: it is a copy, or an older file put "
                          "back, and answering from it again would give more than was paid for; "
                          "use the newest one, or create a new one",
                          printable(file.string(), 200)));
}

}  // namespace

void create_state(const NewState& request, const OwnerLog& log, const AnswerClock& clock,
                  const std::function<std::string()>& make) {
  // Of two that create the same state, the second finds it before it pays.
  const std::filesystem::path& file = request.file;
  const LockedFile alone(file.has_parent_path() ? file.parent_path() : ".", LockedFile::Make::no);
  if (std::filesystem::exists(file)) {
    throw Error(ErrorCode::conflict,
                fmt::format("{} exists; choose another name", printable(file.string(), 200)));
  }
  const StateInfo info{
      request.kind,
      new_id(),
      0,
      server_schema(request.place.ledger) ? request.place.ledger
                                          : std::filesystem::absolute(request.place.ledger),
      request.place.lineage,
      request.place.data.empty() ? std::filesystem::path()
                                 : std::filesystem::absolute(request.place.data.front()),
      request.notes,
      make()};
  TemporaryFile written(file, Readers::owner);
  written.write(file_text(info));
  sync_folder_of(file);  // What cannot be made durable is known before it is paid.

  AccountLedger account = open_account(request.place, request.terms);
  std::vector<ledger::Reserved> reserved;
  reserved.push_back(account.ledger().reserve({request.place.lineage, creation_key(info), "create",
                                               request.description, "", account.budget(),
                                               request.event, request.max_failures}));
  PaidFlow flow(account, log, clock, fmt::format("making a {} failed", request.kind),
                std::move(reserved));
  flow.run(0, [&](privacy::Reservation&& reservation) {
    written.take_name(IfExists::refuse);
    return PaidWork{std::move(reservation).spend(), creation_text(info)};
  });
  flow.finish();
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

namespace {

// Whoever could use a state whose spend was given back, or never made, would get it for nothing. A
// spend without its settlement is of a process that died, or still is, on the way to the file: it
// counts, and the file is not used.
void require_paid(const ledger::Ledger& ledger, const StateInfo& info,
                  const std::filesystem::path& file) {
  const auto stored = ledger.stored(info.lineage, creation_key(info), "create");
  if (stored && stored->answer == creation_text(info)) return;
  throw Error(ErrorCode::conflict,
              fmt::format("{} was not paid for: its creation failed, was cut short, or is in "
                          "another ledger than {}; create a new one, or restore the ledger",
                          printable(file.string(), 200), info.ledger.string()));
}

}  // namespace

AccountPlace place_of(const StateInfo& info) {
  AccountPlace place{info.lineage, info.ledger, {}};
  if (!info.data.empty()) place.data.push_back(info.data);
  return place;
}

StateInfo read_any_state(const std::filesystem::path& file) { return parse(read_file(file), file); }

StateInfo read_state(const std::filesystem::path& file, const std::string& kind) {
  StateInfo info = read_any_state(file);
  require_kind(info, kind, file);
  return info;
}

namespace {

ledger::Options reading() {
  ledger::Options options;
  options.read_only = true;
  return options;
}

}  // namespace

StateInfo read_paid_state(const std::filesystem::path& file, const std::string& kind) {
  StateInfo info = read_state(file, kind);
  const auto account = existing_account(place_of(info), reading());
  if (!account) unknown_account(info, file);
  require_paid(account->ledger(), info, file);
  return info;
}

struct StateTurn::Parts {
  std::filesystem::path file;
  StateInfo info;
  AccountLedger account;
  std::optional<privacy::Reservation> reservation;
};

namespace {

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
bool moved_from_beside(const std::filesystem::path& file, const std::string& digest) {
  for (const std::filesystem::path& attempt : attempts_of(file)) {
    try {
      if (to_hex(sha256(read_file(attempt))) == digest) return moved(attempt, file);
    } catch (const Error& error) {
      if (error.code() != ErrorCode::not_found) throw;  // another process moved it
    }
  }
  return false;
}

// What lies beside once a turn is taken is of attempts that ended: none of them was settled. An
// attempt whose process was taken for dead, and is not, cannot settle any more.
void remove_attempts(const std::filesystem::path& file) {
  std::error_code ignored;
  for (const std::filesystem::path& attempt : attempts_of(file))
    std::filesystem::remove(attempt, ignored);
  remove_leftovers(file);
}

// Others may end turns while this one looks.
constexpr int kTries = 100;

}  // namespace

StateTurn::StateTurn(const std::filesystem::path& file, const std::string& kind, int max_failures,
                     const AccountPlace* known) {
  for (int i = 0; i < kTries; ++i) {
    const std::string text = read_file(file);
    StateInfo info = parse(text, file);
    require_kind(info, kind, file);
    const bool is_known = known && known->lineage == info.lineage;
    AccountPlace place = is_known ? *known : place_of(info);
    place.ledger = info.ledger;
    AccountLedger account = opened_account(place);
    require_paid(account.ledger(), info, file);
    check_follows(account.ledger(), info, text, file);
    auto taken = account.ledger().reserve(turn_request(info, account.budget(), max_failures));
    if (auto* reservation = std::get_if<privacy::Reservation>(&taken)) {
      parts_ = std::make_unique<Parts>(
          Parts{file, std::move(info), std::move(account), std::move(*reservation)});
      remove_attempts(file);
      return;
    }
    const std::string& digest = std::get<ledger::StoredAnswer>(taken).answer;
    if (moved_from_beside(file, digest)) continue;
    if (parse(read_file(file), file).turn <= info.turn) used_already(file);
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

// After a failure: moves what the turn was settled with, if it was. Nothing may be told of it.
void move_settled(const std::filesystem::path& file, const StateInfo& info,
                  const ledger::Ledger& ledger) noexcept {
  try {
    const auto stored = ledger.stored(info.lineage, turn_key(info, info.turn), kTurnDigest);
    if (stored) moved_from_beside(file, stored->answer);
  } catch (...) {
    return;  // The next turn moves it.
  }
}

// Writes the next state beside the file. Its digest.
std::string write_next(const std::filesystem::path& file, const StateInfo& info,
                       const std::string& next_state) {
  StateInfo next = info;
  next.turn += 1;
  next.state = next_state;
  const std::string text = file_text(next);
  std::string digest = to_hex(sha256(text));
  TemporaryFile written(next_of(file, next.turn, digest), Readers::owner);
  written.be_readable_as(file);
  written.write(text);
  written.take_name(IfExists::replace);
  return digest;
}

}  // namespace

void StateTurn::finish(const std::string& next_state) {
  Parts& parts = *parts_;
  SHOAL_CHECK(parts.reservation.has_value());
  privacy::Reservation reservation = std::move(*parts.reservation);
  parts.reservation.reset();
  const std::string digest = write_next(parts.file, parts.info, next_state);
  parts.account.ledger().settle(std::move(reservation).spend(), digest);
  // If it is gone, another process was quicker to move it.
  moved_from_beside(parts.file, digest);
  parts.account.witness();
}

void StateTurn::run(const OwnerLog& log, const AnswerClock& clock,
                    const std::function<std::string()>& work,
                    const std::function<std::string()>& after_failure) {
  Parts& parts = *parts_;
  SHOAL_CHECK(parts.reservation.has_value());
  std::vector<ledger::Reserved> reserved;
  reserved.emplace_back(std::move(*parts.reservation));
  parts.reservation.reset();
  PaidFlow flow(parts.account, log, clock, fmt::format("a turn of a {} failed", parts.info.kind),
                std::move(reserved));
  std::string digest;
  try {
    flow.run(
        0,
        [&](privacy::Reservation&& reservation) {
          std::string next = write_next(parts.file, parts.info, work());
          digest = next;
          return PaidWork{std::move(reservation).spend(), std::move(next)};
        },
        [&] {
          return write_next(parts.file, parts.info,
                            after_failure ? after_failure() : parts.info.state);
        });
  } catch (const Error&) {
    move_settled(parts.file, parts.info, parts.account.ledger());
    throw;
  }
  moved_from_beside(parts.file, digest);
  flow.finish();
}

}  // namespace shoal::session
