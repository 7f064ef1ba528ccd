// Makes a synthetic table from C++: a policy, a plan that costs nothing, a synthesis that is paid
// once, and records drawn from its model.
//
//   synthesize [epsilon = 2]
//
// 3,000 made-up people, with an age, a city and whether they are ill, lie in a CSV file in a folder
// of their own. Prints the plan, how far the model is off by what was measured, and the first
// records; exits with 1 if a second synthesis of the same options was paid again.
#include <shoal/base/error.hpp>
#include <shoal/base/file.hpp>
#include <shoal/random/secure_source.hpp>
#include <shoal/session/session.hpp>

#include <fmt/format.h>
#include <stdlib.h>  // for mkdtemp

#include <cstdlib>
#include <filesystem>
#include <string>

namespace {

using namespace shoal;

// The elder the likelier to be ill, in one city more than in the others.
std::string made_up_people() {
  random::SecureSource bits;
  const char* const cities[] = {"Bern", "Lyon", "Oslo", "Turin"};
  std::string rows = "age,city,ill\n";
  for (int i = 0; i < 3000; ++i) {
    const auto age = 20 + bits.next_bits(6);
    const auto city = bits.next_bits(2);
    const bool ill = bits.next_bits(7) < age - 15 + (city == 2 ? 20 : 0);
    rows += fmt::format("{},{},{}\n", age, cities[city], ill ? "yes" : "no");
  }
  return rows;
}

// What is public about them: bounds, lists, and how much may ever leak.
constexpr const char* kPolicy = R"([dataset]
name = "people"
lineage = "people-1"
[privacy]
unit = "row"
neighbors = "add_remove"
[budget]
epsilon = 8
delta = 1e-5
ledger = "ledger.db"
[query]
time_steps = 0
[table.people]
source = "people.csv"
format = "csv"
[table.people.column.age]
type = "integer"
bounds = [20, 83]
nulls = false
[table.people.column.city]
type = "text"
categories = ["Bern", "Lyon", "Oslo", "Turin"]
nulls = false
[table.people.column.ill]
type = "text"
categories = ["no", "yes"]
nulls = false
)";

int run(const std::filesystem::path& folder, double epsilon) {
  write_file_durably(folder / "people.csv", made_up_people(), IfExists::refuse);
  write_file_durably(folder / "people.toml", kPolicy, IfExists::refuse);
  session::Session session(folder / "people.toml");

  session::SynthesisOptions options;
  options.workload = "all-2way";
  options.epsilon = epsilon;
  options.delta = 1e-6;
  options.bins = 16;
  options.check_share = 0.1;
  const session::SynthesisPlan plan = session.explain_synthesis(options);
  fmt::print("{}\n", describe(plan, session.policy()));

  const session::SyntheticTable table = session.synthesize(options);
  for (const session::MarginalError& one : marginal_errors(table)) {
    fmt::print("{:10} off by {:.3f}, between {:.3f} and {:.3f}\n",
               session::name_of(one.set, plan.domain), one.measured->value, one.measured->lower,
               one.measured->upper);
  }
  std::string records;
  write_records(table, {}, 5, [&](std::string_view text) { records += text; });
  fmt::print("\n{}\n{}\n", records, table.statement);

  // The same again comes from the ledger: as many records as are wanted cost nothing more.
  const double spent = session.budget().epsilon_spent;
  session.synthesize(options);
  return session.budget().epsilon_spent > spent ? 1 : 0;
}

}  // namespace

int main(int count, char** arguments) {
  std::string folder =
      (std::filesystem::temp_directory_path() / "shoal_synthesize_XXXXXX").string();
  if (::mkdtemp(folder.data()) == nullptr) return 1;
  int status = 1;
  try {
    status = run(folder, count > 1 ? std::atof(arguments[1]) : 2);
  } catch (const Error& error) {
    fmt::print(stderr, "{}\n", error.what());
  }
  std::filesystem::remove_all(folder);
  return status;
}
