// A failure inside an engine, and what an asker may see of it: nothing but that there was one.
#pragma once

#include <shoal/base/error.hpp>
#include <shoal/base/owner_log.hpp>

#include <exception>
#include <string>
#include <utility>

namespace shoal::engine {

// A failed statement. Its text may hold private values: it goes to the owner, never to an analyst.
class EngineFailure {
 public:
  explicit EngineFailure(std::string details) : details_(std::move(details)) {}
  const std::string& details() const { return details_; }

 private:
  std::string details_;
};

// After data was touched no failure says why, but to the owner.
template <typename Action>
auto without_details(const OwnerLog& log, Action&& action) {
  try {
    return action();
  } catch (const EngineFailure& failure) {
    log.write("query failed in the engine", failure.details());
  } catch (const std::exception& failure) {
    log.write("query failed", failure.what());
  }
  throw Error(ErrorCode::internal,
              "the question could not be answered; what it cost is spent, and the reason is in the "
              "data owner's log");
}

// Before anything is spent, and without a look at rows: what fails then is the SQL itself.
template <typename Action>
void before_spending(const OwnerLog& log, Action&& action) {
  try {
    action();
    return;
  } catch (const EngineFailure& failure) {
    log.write("the engine does not take a question", failure.details());
  } catch (const std::exception& failure) {
    log.write("the engine does not take a question", failure.what());
  }
  throw Error(ErrorCode::internal,
              "the data engine does not take the SQL that this question became, which is a mistake "
              "of Shoal; nothing was spent, and the reason is in the data owner's log: please "
              "report it, and ask in another way");
}

}  // namespace shoal::engine
