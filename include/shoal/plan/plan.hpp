// Plans: what a question will compute, which noise it gets, what it costs and how far off it may
// be. A plan needs the policy and never the data; it is the same whatever the rows say.
#pragma once

#include <shoal/catalog/policy.hpp>
#include <shoal/catalog/statistic.hpp>
#include <shoal/mechanism/joint_noise.hpp>
#include <shoal/privacy/charge.hpp>
#include <shoal/sql/syntax.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace shoal::plan {

enum class NoiseChoice { automatic, laplace, gaussian };

struct QueryOptions {
  double epsilon = 0;
  std::optional<double> delta = std::nullopt;  // none: pure differential privacy
  double confidence = 0.95;
  NoiseChoice noise = NoiseChoice::automatic;
};

enum class OutputKind { count, sum, average };

// One column of the answer, made of one or two statistics.
struct PlannedOutput {
  std::string name;
  OutputKind kind = OutputKind::count;
  std::size_t statistic = 0;               // the count or the sum
  std::optional<std::size_t> denominator;  // the count under an average, or behind a centred sum
  std::string column;                      // what is summed or averaged
  // Half the width of the error interval. For an average it is to be divided by the number of rows.
  double expected_error = 0;
};

struct Plan {
  std::string table;
  std::optional<sql::Expression> filter;
  std::vector<catalog::Statistic> statistics;
  std::vector<mechanism::StatisticNoise> noises;  // one a statistic
  std::vector<PlannedOutput> outputs;
  std::string person_column;  // empty: the unit is a row
  std::int64_t rows_per_unit = 1;
  Neighbors neighbors = Neighbors::add_remove;
  Epsilon epsilon{0};  // of this question, at delta
  Delta delta{0};
  Confidence confidence{0.95};
  privacy::Event event = privacy::event::Compose{};
  privacy::Charge charge;
};

// Throws parse_error, unsupported, not_found, refused_by_policy or invalid_argument, with the
// position in the text where there is one.
Plan make_plan(std::string_view sql, const catalog::Policy& policy, const QueryOptions& options);

}  // namespace shoal::plan
