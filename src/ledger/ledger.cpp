#include "ledger/chain.hpp"
#include "ledger/opening.hpp"

#include <shoal/base/digest.hpp>
#include <shoal/base/error.hpp>
#include <shoal/base/process.hpp>
#include <shoal/base/text.hpp>
#include <shoal/ledger/ledger.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <atomic>
#include <utility>

namespace shoal::ledger {
namespace {

using Json = nlohmann::ordered_json;

Json account_body(const Account& account) {
  return {{"epsilon", account.budget.epsilon.value()},   {"delta", account.budget.delta.value()},
          {"failures", account.budget.failures.value()}, {"rule", to_string(account.budget.rule)},
          {"neighbors", to_string(account.neighbors)},   {"unit", account.unit}};
}

Account parse_account(const std::string& lineage, const std::string& body) {
  const Json json = Json::parse(body);
  // Accounts of format 1 state neither failures nor a rule: there was nothing to choose.
  return {lineage,
          {Epsilon(json.at("epsilon").get<double>()), Delta(json.at("delta").get<double>()),
           Delta(json.value("failures", 0.0)),
           privacy::parse_rule(json.value("rule", std::string("zcdp")))},
          parse_neighbors(json.at("neighbors").get<std::string>()),
          json.at("unit").get<std::string>()};
}

// Two processes that hold one identity cannot be told apart by it, nor can two threads; a counter
// can.
std::string new_holder() {
  static std::atomic<std::uint64_t> counter{0};
  return fmt::format("{}#{}", process_identity(), ++counter);
}

std::string_view process_of(std::string_view holder) { return holder.substr(0, holder.find('#')); }

}  // namespace

struct Ledger::State {
  Connection connection;
  ChainState chain;

  Entry append(Entry entry) {
    entry.seq = chain.last_seq() + 1;
    entry.time = utc_now();
    if (entry.kind == "reserve") entry.reservation = entry.seq;
    entry.hash = entry_hash(entry, chain.last_hash());
    Statement insert(
        connection,
        "INSERT INTO entry VALUES (?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13,?14,?15,?16,?17,?18,"
        "?19,?20)");
    insert.bind(1, entry.seq).bind(2, entry.time).bind(3, entry.lineage).bind(4, entry.kind);
    insert.bind(5, entry.reservation).bind(6, entry.request_key).bind(7, entry.request_digest);
    insert.bind(8, entry.holder).bind(9, entry.body);
    insert.bind(10, entry.charge.epsilon_units);
    insert.bind(11, entry.charge.rho_units).bind(12, entry.totals.epsilon_units);
    insert.bind(13, entry.totals.rho_units).bind(14, entry.totals.unbounded).bind(15, entry.hash);
    insert.bind(16, entry.charge.delta_units).bind(17, entry.charge.gaussian_units);
    insert.bind(18, entry.totals.delta_units).bind(19, entry.totals.gaussian_units);
    insert.bind(20, entry.totals.other);
    insert.step();
    return entry;
  }

  template <typename... Values>
  std::optional<Entry> find(const char* sql, const Values&... values) const {
    Statement statement(connection, sql);
    int index = 0;
    (statement.bind(++index, values), ...);
    if (!statement.step()) return std::nullopt;
    return read_entry(statement);
  }

  std::optional<Account> account(const std::string& lineage) const {
    const auto entry = find(
        "SELECT * FROM entry WHERE lineage = ?1 AND kind IN ('open', 'budget') ORDER BY seq DESC "
        "LIMIT 1",
        lineage);
    if (!entry) return std::nullopt;
    return parse_account(lineage, entry->body);
  }

  std::optional<Entry> closing(std::int64_t reservation) const {
    return find("SELECT * FROM entry WHERE reservation = ?1 AND kind IN ('settle', 'cancel')",
                reservation);
  }

  std::string holder_of(const Entry& reserve) const {
    const auto resumed = find(
        "SELECT * FROM entry WHERE reservation = ?1 AND kind = 'resume' ORDER BY seq DESC LIMIT 1",
        reserve.seq);
    return resumed ? resumed->holder : reserve.holder;
  }
};

Ledger::Ledger(const std::filesystem::path& path, const Options& options)
    : state_(std::make_unique<State>(State{open_connection(path, options), {}})) {
  state_->chain.advance(state_->connection);
}

Ledger::Ledger(Ledger&&) noexcept = default;
Ledger& Ledger::operator=(Ledger&&) noexcept = default;
Ledger::~Ledger() = default;

std::optional<Account> Ledger::account(const std::string& lineage) const {
  return state_->account(lineage);
}

namespace {

void require_name(const std::string& name, const char* what) {
  if (name.empty()) {
    throw Error(ErrorCode::invalid_argument, fmt::format("the {} is empty; give one", what));
  }
}

void require_part(const privacy::Budget& budget) {
  if (budget.failures > budget.delta) {
    throw Error(
        ErrorCode::invalid_argument,
        fmt::format("delta {} is set aside for failures; it cannot exceed the whole, {}",
                    format_number(budget.failures.value()), format_number(budget.delta.value())));
  }
}

void require_same_meaning(const Account& held, const Account& asked) {
  if (held.neighbors != asked.neighbors || held.unit != asked.unit) {
    throw Error(
        ErrorCode::conflict,
        fmt::format(
            "the budget of {} protects {} under {}, the policy says {} under {}; spends of two "
            "kinds cannot share a total: restore the policy, or start a new budget with shoal "
            "init --new-budget",
            held.lineage, held.unit, to_string(held.neighbors), asked.unit,
            to_string(asked.neighbors)));
  }
  if (held.budget.failures != asked.budget.failures || held.budget.rule != asked.budget.rule) {
    throw Error(
        ErrorCode::conflict,
        fmt::format("the budget of {} sets aside delta {} for failures and converts by "
                    "{}, asked for is delta {} and {}; both are fixed before the first "
                    "question: ask for the same, or start a new budget with shoal init "
                    "--new-budget",
                    held.lineage, format_number(held.budget.failures.value()),
                    to_string(held.budget.rule), format_number(asked.budget.failures.value()),
                    to_string(asked.budget.rule)));
  }
  if (asked.budget.epsilon > held.budget.epsilon || asked.budget.delta > held.budget.delta) {
    throw Error(
        ErrorCode::conflict,
        fmt::format(
            "the policy's total (epsilon {}, delta {}) is larger than the ledger's (epsilon {}, "
            "delta {}); if the owner means it: shoal budget <policy> --accept-policy",
            format_number(asked.budget.epsilon.value()), format_number(asked.budget.delta.value()),
            format_number(held.budget.epsilon.value()), format_number(held.budget.delta.value())));
  }
}

[[noreturn]] void refuse(const privacy::Budget& budget, const Totals& totals,
                         const privacy::Charge& charge) {
  if (charge.delta_units > 0 && budget.failures.value() == 0) {
    throw Error(ErrorCode::budget_exceeded,
                "this question may fail with a probability of its own, and the budget sets no part "
                "of its delta aside for failures; state it as a zcdp or gdp event, or open a "
                "budget that does");
  }
  const double left = privacy::epsilon_left_down(budget, totals.charge());
  throw Error(
      ErrorCode::budget_exceeded,
      fmt::format(
          "this question does not fit into what is left of the budget (epsilon {}, delta {}); {}",
          format_number(budget.epsilon.value()), format_number(budget.delta.value()),
          left > 0
              ? fmt::format("one of epsilon {} without delta still fits", format_rounded(left, 6))
              : "it is used up, and only the owner can raise it"));
}

}  // namespace

void Ledger::open_account(const Account& account) {
  require_name(account.lineage, "lineage");
  require_part(account.budget);
  Transaction transaction(state_->connection);
  state_->chain.advance(state_->connection);
  if (const auto held = state_->account(account.lineage)) {
    require_same_meaning(*held, account);
    return;
  }
  Entry entry;
  entry.lineage = account.lineage;
  entry.kind = "open";
  entry.body = account_body(account).dump();
  state_->append(std::move(entry));
  transaction.commit();
}

void Ledger::change_budget(const std::string& lineage, const privacy::Budget& budget) {
  Transaction transaction(state_->connection);
  state_->chain.advance(state_->connection);
  auto account = state_->account(lineage);
  if (!account) {
    throw Error(ErrorCode::not_found,
                fmt::format("the ledger has no budget named {}", printable(lineage, 80)));
  }
  account->budget.epsilon = budget.epsilon;
  account->budget.delta = budget.delta;
  require_part(account->budget);
  Entry entry;
  entry.lineage = lineage;
  entry.kind = "budget";
  entry.body = account_body(*account).dump();
  entry.totals = state_->chain.totals(lineage);
  state_->append(std::move(entry));
  transaction.commit();
}

std::variant<privacy::Reservation, StoredAnswer> Ledger::reserve(const Request& request) {
  require_name(request.key, "key");
  State& state = *state_;
  Transaction transaction(state.connection);
  state.chain.advance(state.connection);
  const auto account = state.account(request.lineage);
  if (!account) {
    throw Error(ErrorCode::not_found,
                fmt::format("the ledger has no budget named {}", printable(request.lineage, 80)));
  }
  Entry entry;
  entry.lineage = request.lineage;
  entry.request_key = request.key;
  entry.request_digest = request.digest;
  entry.holder = new_holder();
  entry.totals = state.chain.totals(request.lineage);

  const auto earlier =
      state.find("SELECT * FROM entry WHERE lineage = ?1 AND request_key = ?2 AND kind = 'reserve'",
                 request.lineage, request.key);
  if (earlier) {
    if (earlier->request_digest != request.digest) {
      throw Error(ErrorCode::conflict,
                  "this key was used for another question; use a new key for a new question");
    }
    if (const auto closed = state.closing(earlier->seq)) {
      if (closed->kind == "cancel") {
        throw Error(ErrorCode::conflict, "the request with this key was cancelled; use a new key");
      }
      return StoredAnswer{earlier->seq, Json::parse(closed->body).at("answer").get<std::string>()};
    }
    if (!process_is_gone(process_of(state.holder_of(*earlier)))) {
      throw Error(ErrorCode::unavailable,
                  "the request with this key is being answered; try again in a moment");
    }
    // Its process died before an answer was stored, so none has left: one may still be given for
    // the spend.
    entry.kind = "resume";
    entry.reservation = earlier->seq;
    entry.body = "{}";
    const Entry written = state.append(std::move(entry));
    transaction.commit();
    return privacy::Reservation(
        earlier->seq, written.holder,
        privacy::event_from_json(Json::parse(earlier->body).at("event").dump()));
  }

  entry.kind = "reserve";
  entry.charge = privacy::price(request.event, account->neighbors);
  const privacy::Budget budget = privacy::smaller(account->budget, request.budget);
  if (!privacy::fits(budget, privacy::add(entry.totals.charge(), entry.charge)))
    refuse(budget, entry.totals, entry.charge);
  entry.totals = plus(entry.totals, entry.charge);
  entry.body = Json{{"event", Json::parse(privacy::to_json(request.event))},
                    {"description", request.description},
                    {"policy", request.policy_digest},
                    {"accountant", privacy::kAccountantVersion}}
                   .dump();
  const Entry written = state.append(std::move(entry));
  transaction.commit();
  return privacy::Reservation(written.seq, written.holder, request.event);
}

StoredAnswer Ledger::settle(privacy::SpentReservation&& spent, std::string_view answer) {
  const privacy::SpentReservation mine = std::move(spent);
  State& state = *state_;
  Transaction transaction(state.connection);
  state.chain.advance(state.connection);
  const auto reserve =
      state.find("SELECT * FROM entry WHERE seq = ?1 AND kind = 'reserve'", mine.entry());
  SHOAL_CHECK(reserve.has_value());
  if (state.closing(mine.entry()) || state.holder_of(*reserve) != mine.holder()) {
    throw Error(
        ErrorCode::conflict,
        "another process took this request over; retry with the same key to get its answer");
  }
  Entry entry;
  entry.lineage = reserve->lineage;
  entry.kind = "settle";
  entry.reservation = mine.entry();
  entry.request_key = reserve->request_key;
  entry.request_digest = reserve->request_digest;
  entry.holder = mine.holder();
  entry.totals = state.chain.totals(reserve->lineage);
  entry.body = Json{{"digest", to_hex(sha256(answer))}, {"answer", std::string(answer)}}.dump();
  state.append(std::move(entry));
  transaction.commit();
  return {mine.entry(), std::string(answer)};
}

void Ledger::cancel(privacy::Reservation&& reservation) {
  const privacy::Reservation mine = std::move(reservation);
  SHOAL_CHECK(!mine.touched());
  State& state = *state_;
  Transaction transaction(state.connection);
  state.chain.advance(state.connection);
  const auto reserve =
      state.find("SELECT * FROM entry WHERE seq = ?1 AND kind = 'reserve'", mine.entry());
  // Whoever took a reservation over, or lost it so, cannot know that the other touched no data.
  SHOAL_CHECK(reserve.has_value() && reserve->holder == mine.holder_ &&
              state.holder_of(*reserve) == mine.holder_ && !state.closing(mine.entry()));
  Entry entry;
  entry.lineage = reserve->lineage;
  entry.kind = "cancel";
  entry.reservation = mine.entry();
  entry.request_key = reserve->request_key;
  entry.request_digest = reserve->request_digest;
  entry.holder = mine.holder_;
  entry.body = "{}";
  entry.totals = minus(state.chain.totals(reserve->lineage), reserve->charge);
  state.append(std::move(entry));
  transaction.commit();
}

privacy::Charge Ledger::total(const std::string& lineage) {
  state_->chain.advance(state_->connection);
  return state_->chain.totals(lineage).charge();
}

std::vector<Spend> Ledger::spends(const std::string& lineage) {
  std::vector<Spend> spends;
  Statement reserves(state_->connection,
                     "SELECT * FROM entry WHERE lineage = ?1 AND kind = 'reserve' ORDER BY seq");
  reserves.bind(1, lineage);
  while (reserves.step()) {
    const Entry entry = read_entry(reserves);
    const Json body = Json::parse(entry.body);
    const auto closed = state_->closing(entry.seq);
    spends.push_back({entry.seq, entry.time,
                      !closed                    ? "reserved"
                      : closed->kind == "settle" ? "settled"
                                                 : "cancelled",
                      body.at("description").get<std::string>(), entry.request_key,
                      privacy::event_from_json(body.at("event").dump()), entry.charge,
                      body.at("accountant").get<int>()});
  }
  return spends;
}

privacy::Charge Ledger::repriced_total(const std::string& lineage) {
  const auto held = account(lineage);
  privacy::Charge total;
  if (!held) return total;
  for (const Spend& spend : spends(lineage)) {
    if (spend.state == "cancelled") continue;
    // The first accountant's events state each sensitivity under the account's own relation, in the
    // field that now is about coming and going: it is to be taken as it stands.
    const Neighbors stated = spend.accountant == 1 ? Neighbors::add_remove : held->neighbors;
    total = privacy::add(total, privacy::price(spend.event, stated));
  }
  return total;
}

}  // namespace shoal::ledger
