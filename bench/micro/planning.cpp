// What it takes to plan and price a question, before any data: the text parsed and checked, noise
// chosen and calibrated, errors predicted, the cost priced by the filter.
//   build/bench/bench/micro/planning
#include <shoal/catalog/policy.hpp>
#include <shoal/plan/plan.hpp>
#include <shoal/privacy/charge.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

namespace {

using namespace shoal;

constexpr const char* kPolicy = R"(
[dataset]
name = "visits"
lineage = "visits-1"
[privacy]
unit = "person"
neighbors = "add_remove"
[budget]
epsilon = 10
delta = 1e-6
ledger = "visits.ledger"
[table.visits]
source = "visits.parquet"
format = "parquet"
person_column = "person_id"
max_rows_per_person = 20
max_groups_per_person = 5
max_rows_per_group = 10
[table.visits.column]
person_id = { type = "integer" }
city = { type = "text", categories = ["Lyon", "Nantes", "Paris"] }
ward = { type = "text" }
day = { type = "date" }
nights = { type = "integer", bounds = [0, 60] }
cost = { type = "real", bounds = [0, 5000] }
)";

constexpr const char* kQuestions[] = {
    "SELECT COUNT(*) FROM visits",
    "SELECT city, COUNT(*), SUM(cost), AVG(nights) FROM visits GROUP BY city",
    "SELECT ward, COUNT(*) AS n, AVG(cost) FROM visits GROUP BY ward HAVING n > 20 ORDER BY n",
    "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon = 0.5, delta = 1e-7, "
    "max_groups_contributed = 2) ward, city, COUNT(*), SUM(cost), STDDEV(nights) FROM visits GROUP "
    "BY GROUPING SETS ((ward), (city), (ward, city))",
    "SELECT MEDIAN(cost), PERCENTILE(cost, 0.9), MAX(nights) FROM visits WHERE nights > 1",
    "SELECT AVG(total, bounds => (0, 9000)) FROM (SELECT person_id, SUM(cost) AS total FROM visits "
    "GROUP BY person_id)"};

constexpr int kRounds = 100;

double milliseconds(const auto& action) {
  const auto start = std::chrono::steady_clock::now();
  action();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
      .count();
}

}  // namespace

int main() {
  const catalog::Policy policy = catalog::parse_policy(kPolicy, "visits.toml");
  plan::QueryOptions options;
  options.epsilon = 1;
  options.delta = 1e-8;
  fmt::print("milliseconds to plan and price, first and median of {}\n\n", kRounds);
  for (const char* question : kQuestions) {
    std::vector<double> times;
    for (int i = 0; i < kRounds; ++i) {
      times.push_back(milliseconds([&] {
        const plan::Plan plan = plan::make_plan(question, policy, options);
        privacy::price(plan.event, policy.neighbors);
      }));
    }
    const double first = times.front();
    std::sort(times.begin(), times.end());
    fmt::print("{:>8.3f}{:>8.3f}  {:.90}\n", first, times[kRounds / 2], question);
  }
  return 0;
}
