// Plans: what a question will compute, which noise it gets, what it costs and how far off it may
// be. A plan needs the policy and never the data; it is the same whatever the rows say.
#pragma once

#include <shoal/catalog/key.hpp>
#include <shoal/catalog/policy.hpp>
#include <shoal/catalog/statistic.hpp>
#include <shoal/mechanism/grouped_noise.hpp>
#include <shoal/privacy/charge.hpp>
#include <shoal/privacy/declared.hpp>
#include <shoal/sql/query.hpp>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace shoal::plan {

enum class NoiseChoice { automatic, laplace, gaussian };
std::string_view to_string(NoiseChoice choice);

// What the asker says beside the query. OPTIONS in the text goes before it, the policy's defaults
// stand behind it.
struct QueryOptions {
  std::optional<double> epsilon = std::nullopt;
  std::optional<double> delta = std::nullopt;  // none: pure, unless groups must be hidden
  std::optional<double> confidence = std::nullopt;
  NoiseChoice noise = NoiseChoice::automatic;
};

// One of the columns by which an answer is grouped.
struct PlannedKey {
  std::string name;
  catalog::ColumnType type = catalog::ColumnType::text;
};

// A value that statistics are made of: a number on its grid, or something of which only the
// identity matters.
struct PlannedValue {
  bool identity = false;
  bool whole = false;
  catalog::ColumnType type = catalog::ColumnType::real;  // of an identity
  catalog::GridRange range = {};
  bool nulls = true;
};

// More public groups than anybody reads; each costs time, whether anybody is in it or not.
inline constexpr std::size_t kMaxPublicGroups = 1'000'000;

// One GROUP BY. By no key there is one group. The keys are public, or listed by a query over public
// tables, or hidden: then a group shows only if enough units are in it.
struct PlannedGrouping {
  std::vector<std::size_t> keys = {};
  std::vector<catalog::Key> public_keys = {};
  std::optional<sql::Query> key_query = std::nullopt;
  bool hidden = false;
};

enum class AggregateKind {
  count,
  units,
  distinct,
  sum,
  average,
  variance,
  deviation,
  quantile,
  minimum,
  maximum,
};

std::string_view to_string(AggregateKind kind);

// One aggregate of the query, made of up to three statistics.
struct PlannedAggregate {
  AggregateKind kind = AggregateKind::count;
  std::size_t statistic = 0;                              // the count or the sum
  std::optional<std::size_t> denominator = std::nullopt;  // the count under an average
  std::optional<std::size_t> squares = std::nullopt;
  std::optional<std::size_t> quantile = std::nullopt;  // which of a group's released quantiles
  double fraction = 0;                                 // of a quantile: 0.5 is the median
  // The most aggregates of any column that it is part of, among which that column's chance to be
  // missed is divided.
  std::size_t parts = 1;
  bool of_sample = false;                                // VAR_SAMP: the divisor is one less
  bool searched = false;                                 // bounds are still to be found
  std::string of = {};                                   // what is added up, in words
  std::optional<catalog::Bounds> bounds = std::nullopt;  // values are clamped to them
  // Half the width of the error interval in the finest grouping. For an average it is to be divided
  // by the number of rows; for a variance and a deviation there is none in advance.
  std::optional<double> expected_error = std::nullopt;
};

// A public column of which no two rows may share a value; to be checked before anything is spent.
struct UniqueCheck {
  std::string table;
  std::string column;
};

// A number that public tables have: one row with one whole number AS k0.
struct PublicCount {
  std::string of;  // the tables, in words
  sql::Query query;
};

// How many rows joins make of one row at most: a number that the policy says, times those of public
// tables.
struct FanOut {
  long long rows = 1;
  std::vector<PublicCount> counts = {};
};

// Enough for joins that anybody asks for, and few enough that nobody's rows are long to join.
inline constexpr long long kMaxFanOut = 10'000;

// With its counts, as they were read. Throws unsupported if that is more than kMaxFanOut.
void require_fan_out(const FanOut& fan_out, const std::vector<long long>& counts);

enum class SearchKind { bounds, max_groups };

// Something that a question leaves to be found, and the rows in whose histogram it is looked for:
// unit AS u, bin AS k0.
struct Search {
  SearchKind kind = SearchKind::bounds;
  std::string of;    // a value, or keys, in words
  std::string rule;  // where it is looked for: the same rule finds the same
  sql::Query rows;
  bool has_unit = false;
  bool clustered = false;
  bool whole = false;                                    // of bounds: whole numbers
  std::optional<catalog::Bounds> within = std::nullopt;  // of bounds: declared ones
  std::vector<std::int64_t> bins = {};                   // in the order of what they stand for
  std::int64_t epsilon_units = 0;
};

// What a search found; neither if too few people were there to tell.
struct Found {
  std::optional<catalog::Bounds> bounds = std::nullopt;
  std::optional<std::int64_t> max_groups = std::nullopt;
  bool operator==(const Found&) const = default;
};

// By rule.
using Findings = std::map<std::string, Found>;

// A planned search, or what an earlier one found.
struct Automatic {
  Search search;
  std::optional<Found> found = std::nullopt;
};

// What a question may cost, as its text, the asker and the policy's defaults say together.
struct AskedCost {
  double epsilon = 0;
  std::optional<double> delta = std::nullopt;
  double confidence = 0;
  NoiseChoice noise = NoiseChoice::automatic;
  bool operator==(const AskedCost&) const = default;
};

// How released numbers become the answer's columns: expressions, HAVING, ORDER BY, LIMIT.
struct Presentation;

struct Plan {
  std::vector<std::string> tables;  // of the policy, each once
  sql::Query rows;                  // unit AS u, keys AS k0, ..., values AS v0, ...
  bool has_unit = false;            // false: the unit is a row
  bool clustered = false;           // the policy says that rows come ordered by unit
  std::vector<UniqueCheck> unique;
  std::vector<FanOut> fan_outs;  // to be checked with their counts before anything is spent
  std::vector<PlannedKey> keys;
  std::vector<PlannedValue> values;
  std::vector<catalog::Statistic> statistics;
  std::vector<PlannedGrouping> groupings;
  std::vector<mechanism::GroupedNoise> noises;  // one a grouping
  std::vector<PlannedAggregate> aggregates;
  bool consistent = false;  // groupings are made to agree
  bool totals = false;      // a row is the total of a unit in a group
  std::int64_t rows_per_group = 1;
  std::int64_t distinct_per_group = 1;
  std::int64_t min_units = 1;
  Neighbors neighbors = Neighbors::add_remove;
  Epsilon epsilon{0};  // of this question, at delta
  Delta delta{0};
  Confidence confidence{0.95};
  privacy::Event event = privacy::event::Compose{};
  privacy::Charge charge;
  std::string sql;        // as it was asked
  QueryOptions options;   // as they were given beside it
  std::string canonical;  // the query as a tree prints, whatever its spaces and letters
  AskedCost asked;
  bool explain_only = false;  // EXPLAIN PRIVACY
  // What is, or was, looked for. While something is not found yet, aggregates that rest on it have
  // neither bounds nor expected errors, and event and charge are amounts: those of the searches,
  // then `limit`, the most that the answer itself will cost.
  std::vector<Automatic> automatic = {};
  privacy::Limit limit = {};
  std::shared_ptr<const Presentation> presentation;
};

// What is known when a question is planned.
struct Known {
  Findings findings = {};
  // The searches were paid with this question: the answer has what they left of its epsilon, and
  // the kind of noise that was declared.
  bool searched = false;
  std::optional<NoiseChoice> noise = std::nullopt;
};

// True while something must be looked for before the question can be answered.
bool must_search(const Plan& plan);

// Throws parse_error, unsupported, not_found, refused_by_policy or invalid_argument, with the
// position in the text where there is one.
Plan make_plan(std::string_view sql, const catalog::Policy& policy, const QueryOptions& options,
               const Known& known = {});

}  // namespace shoal::plan
