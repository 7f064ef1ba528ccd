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

namespace shoal::session {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kFormat = 1;

std::string new_id() {
  random::SecureSource bits;
  std::string id;
  for (int i = 0; i < 2; ++i) id += fmt::format("{:016x}", bits.next_u64());
  return id;
}

std::filesystem::path next_of(const std::filesystem::path& file) {
  std::filesystem::path next = file;
  next += ".next";
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

std::string turn_key(const StateInfo& info) {
  return fmt::format("state/{}/turn/{}", info.id, info.turn);
}

ledger::Request turn_request(const StateInfo& info, const privacy::Budget& budget) {
  return {info.lineage,
          turn_key(info),
          "turn",
          fmt::format("turn {} of {} {}", info.turn, info.kind, info.id.substr(0, 8)),
          "",
          budget,
          privacy::event::Compose{}};
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
  reserved.touch();
  ledger.settle(std::move(reserved).spend(), "{\"state\": \"" + info.id + "\"}");
}

StateInfo read_state(const std::filesystem::path& file, const std::string& kind) {
  StateInfo info = parse(read_file(file), file);
  if (info.kind == kind) return info;
  throw Error(ErrorCode::invalid_argument,
              fmt::format("{} is a {}, not a {}; name another file", printable(file.string(), 200),
                          printable(info.kind, 40), kind));
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

// The file that a settled turn left beside it, if a crash kept it from being moved into place.
std::optional<StateInfo> left_beside(const std::filesystem::path& file, const std::string& digest) {
  std::error_code ignored;
  if (!std::filesystem::exists(next_of(file), ignored)) return std::nullopt;
  const std::string text = read_file(next_of(file));
  if (to_hex(sha256(text)) != digest) return std::nullopt;
  std::filesystem::rename(next_of(file), file);
  sync_folder_of(file);
  return parse(text, file);
}

}  // namespace

StateTurn::StateTurn(const std::filesystem::path& file, const std::string& kind) {
  StateInfo info = read_state(file, kind);
  ledger::Ledger ledger = open_existing(info.ledger);
  const privacy::Budget budget = budget_of(ledger, info.lineage);
  auto taken = ledger.reserve(turn_request(info, budget));
  if (const auto* stored = std::get_if<ledger::StoredAnswer>(&taken)) {
    auto next = left_beside(file, stored->answer);
    if (!next) used_already(file);
    info = std::move(*next);
    taken = ledger.reserve(turn_request(info, budget));
    if (std::holds_alternative<ledger::StoredAnswer>(taken)) used_already(file);
  }
  parts_ = std::make_unique<Parts>(Parts{file, std::move(info), std::move(ledger),
                                         std::get<privacy::Reservation>(std::move(taken))});
}

StateTurn::~StateTurn() {
  try {
    if (parts_ && parts_->reservation) finish(parts_->info.state);
  } catch (...) {
    // The turn stays taken; when this process is gone the next one takes it over.
  }
}

const StateInfo& StateTurn::info() const { return parts_->info; }

void StateTurn::finish(const std::string& next_state) {
  Parts& parts = *parts_;
  SHOAL_CHECK(parts.reservation.has_value());
  privacy::Reservation reservation = std::move(*parts.reservation);
  parts.reservation.reset();
  StateInfo next = parts.info;
  next.turn += 1;
  next.state = next_state;
  const std::string text = file_text(next);
  write_file_durably(next_of(parts.file), text, IfExists::replace);
  reservation.touch();
  parts.ledger.settle(std::move(reservation).spend(), to_hex(sha256(text)));
  std::filesystem::rename(next_of(parts.file), parts.file);
  sync_folder_of(parts.file);
}

}  // namespace shoal::session
