// The breaker: a lineage with too many failures since its owner last looked is closed to every
// request. A failure after data was touched may depend on one person; closed, the data set tells an
// analyst at most so many of them.
#include "ledger/state.hpp"

#include <shoal/base/error.hpp>

#include <nlohmann/json.hpp>

#include <array>

namespace shoal::ledger {

using Json = nlohmann::ordered_json;

bool is_reserved_key(std::string_view key) {
  static constexpr std::array<std::string_view, 3> kPrefixes{"same-", "automatic-", "state/"};
  for (const std::string_view prefix : kPrefixes) {
    if (key.starts_with(prefix)) return true;
  }
  return false;
}

void Ledger::State::require_open(const Request& request) const {
  SHOAL_CHECK(request.max_failures >= 1);
  if (chain.lineage(request.lineage).failures.size() >=
      static_cast<std::size_t>(request.max_failures))
    throw Error(ErrorCode::refused_by_policy, std::string(kClosedSentence));
}

std::vector<Failure> Ledger::failures(const std::string& lineage) const {
  state_->chain.advance(*state_->store);
  std::vector<Failure> failures;
  for (const std::int64_t seq : state_->chain.lineage(lineage).failures) {
    const Entry entry = state_->entry_at(seq, "fail");
    const Entry reserve = state_->entry_at(entry.reservation, "reserve");
    // The owner's log has the reason before the ledger has the failure.
    failures.push_back({entry.reservation, reserve.time,
                        Json::parse(reserve.body).at("description").get<std::string>(),
                        entry.request_key});
  }
  return failures;
}

bool Ledger::is_closed(const std::string& lineage, int max_failures) const {
  SHOAL_CHECK(max_failures >= 1);
  state_->chain.advance(*state_->store);
  return state_->chain.lineage(lineage).failures.size() >= static_cast<std::size_t>(max_failures);
}

void Ledger::reopen(const std::string& lineage, const std::string& note) {
  state_->transact([&] {
    state_->known_account(lineage);
    Entry entry;
    entry.lineage = lineage;
    entry.kind = "reopen";
    entry.body = Json{{"note", note}}.dump();
    entry.totals = state_->chain.totals(lineage);
    return state_->append(std::move(entry));
  });
}

}  // namespace shoal::ledger
