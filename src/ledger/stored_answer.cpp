// Answers as they are stored, and from when on they may be seen.
#include "ledger/state.hpp"

#include <shoal/base/digest.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>

namespace shoal::ledger {
namespace {

using Json = nlohmann::ordered_json;
using std::chrono::microseconds;

// Of the system's clock, which all processes share.
microseconds now() {
  return std::chrono::duration_cast<microseconds>(
      std::chrono::system_clock::now().time_since_epoch());
}

// A clock that was set back must not hide an answer for longer than it was to be hidden at all.
microseconds hidden_for(const Json& body) {
  if (!body.contains("leaves")) return microseconds{0};
  const microseconds leaves(body.at("leaves").get<std::int64_t>());
  const microseconds longest(body.at("hidden").get<std::int64_t>());
  return std::clamp(leaves - now(), microseconds{0}, longest);
}

}  // namespace

KeyInWork::KeyInWork()
    : Error(ErrorCode::unavailable,
            "the request with this key is being answered; try again in a moment") {}

std::string closing_body(std::string_view answer, microseconds hidden_for) {
  // At once: a long answer takes a while below.
  const microseconds leaves = now() + hidden_for;
  Json body{{"digest", to_hex(sha256(answer))}, {"answer", std::string(answer)}};
  if (hidden_for.count() > 0) {
    body["leaves"] = leaves.count();
    body["hidden"] = hidden_for.count();
  }
  return body.dump();
}

StoredAnswer stored_answer(const Entry& reserve, const Entry& closed) {
  const Json body = Json::parse(closed.body);
  return {reserve.seq, body.at("answer").get<std::string>(), hidden_for(body)};
}

}  // namespace shoal::ledger
