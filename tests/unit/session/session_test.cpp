// The session: the whole flow on small files. What is spent, what is refused, what comes back at a
// retry.
#include "support/code_of.hpp"
#include "support/seeded_source.hpp"
#include "support/temporary_folder.hpp"

#include <shoal/base/error.hpp>
#include <shoal/base/file.hpp>
#include <shoal/catalog/budget_marker.hpp>
#include <shoal/catalog/rows_manifest.hpp>
#include <shoal/session/import.hpp>
#include <shoal/session/owner.hpp>
#include <shoal/session/session.hpp>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <chrono>
#include <set>
#include <string>
#include <thread>

namespace shoal::session {
namespace {

using test::code_of;

class SessionTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string text = "id,age\n";
    for (int i = 0; i < 500; ++i) text += std::to_string(i) + "," + std::to_string(i % 100) + "\n";
    write_file_durably(folder_ / "people.csv", text, IfExists::refuse);
    InitRequest request;
    request.files = {folder_ / "people.csv"};
    request.delta = 0;
    init_policy(request);
    change("# bounds = [0, 100]", "bounds = [0, 100]", "age");
  }

  // Replaces text in the policy, from a column's section on.
  void change(const std::string& from, const std::string& to, const std::string& column = "") {
    std::string policy = read_file(policy_path());
    const std::size_t start = column.empty() ? 0 : policy.find(".column." + column + "]");
    const std::size_t at = policy.find(from, start);
    ASSERT_NE(at, std::string::npos) << from;
    write_file_durably(policy_path(), policy.replace(at, from.size(), to), IfExists::replace);
  }

  // The same where the data's marker has it as well: the owner says it twice.
  void change_terms(const std::string& from, const std::string& to) {
    change(from, to);
    Session(policy_path()).accept_policy_budget();
  }

  std::filesystem::path policy_path() const { return folder_ / "people.toml"; }

  static plan::QueryOptions epsilon(double value) {
    plan::QueryOptions options;
    options.epsilon = value;
    return options;
  }

  double spent() { return Session(policy_path()).budget().epsilon_spent; }

  test::TemporaryFolder folder_;
};

constexpr const char* kCount = "SELECT COUNT(*) FROM people";

TEST_F(SessionTest, AnswersAndCharges) {
  Session session(policy_path());
  test::SeededSource bits(1);
  const Answer answer = session.query("SELECT COUNT(*), AVG(age) FROM people WHERE age < 50",
                                      epsilon(0.5), "k", bits);
  ASSERT_EQ(answer.columns.size(), 2u);
  ASSERT_EQ(answer.rows.size(), 1u);
  EXPECT_NEAR(number(answer.rows[0][0]), 250, 60);
  EXPECT_LE(answer.rows[0][0].lower, 250);
  EXPECT_GE(answer.rows[0][0].upper, 250);
  EXPECT_EQ(answer.columns[1].bounds, (catalog::Bounds{0, 100}));
  EXPECT_LE(answer.epsilon, 0.5);
  EXPECT_GT(answer.epsilon, 0.4999999);
  EXPECT_EQ(answer.neighbors, "add_remove");
  EXPECT_NE(answer.statement.find("0.5-differentially private for one row"), std::string::npos)
      << answer.statement;
  const BudgetReport budget = session.budget({.reprice = true});
  EXPECT_EQ(budget.spends.size(), 1u);
  EXPECT_EQ(budget.spends[0].state, "settled");
  EXPECT_EQ(budget.repriced, budget.spent);
  EXPECT_NEAR(budget.epsilon_left, 0.5, 1e-9);
}

TEST_F(SessionTest, TheSameBitsGiveTheSameNoise) {
  test::SeededSource one(5);
  test::SeededSource two(5);
  Session session(policy_path());
  EXPECT_EQ(session.query(kCount, epsilon(0.1), "a", one).rows,
            session.query(kCount, epsilon(0.1), "b", two).rows);
}

// A key of Shoal's own form would take, or spoil, the answer of another request.
TEST_F(SessionTest, KeysOfShoalsOwnFormAreRefused) {
  Session session(policy_path());
  const std::string made = session.query(kCount, epsilon(0.1)).key;
  EXPECT_TRUE(made.starts_with("same-"));
  for (const std::string& key : {made, std::string("automatic-1"), std::string("state/1/turn/0")}) {
    EXPECT_EQ(code_of([&] { session.query(kCount, epsilon(0.1), key); }),
              ErrorCode::invalid_argument)
        << key;
  }
  EXPECT_NEAR(spent(), 0.1, 1e-9);
}

TEST_F(SessionTest, AKeyPaysOnce) {
  Session session(policy_path());
  const Answer first = session.query(kCount, epsilon(0.3), "key");
  EXPECT_EQ(to_json(session.query(kCount, epsilon(0.3), "key")), to_json(first));
  EXPECT_EQ(to_json(Session(policy_path()).query(kCount, epsilon(0.3), "key")), to_json(first));
  EXPECT_NEAR(spent(), 0.3, 1e-9);
  EXPECT_EQ(code_of([&] { session.query(kCount, epsilon(0.2), "key"); }), ErrorCode::conflict);
  EXPECT_EQ(code_of([&] { session.query("SELECT COUNT(id) FROM people", epsilon(0.3), "key"); }),
            ErrorCode::conflict);
  EXPECT_NEAR(spent(), 0.3, 1e-9);
}

TEST_F(SessionTest, TheSameQuestionIsTheSameAnswerAndFree) {
  Session session(policy_path());
  Answer first = session.query(kCount, epsilon(0.3));
  EXPECT_FALSE(first.repeated);
  first.repeated = true;  // and else the same
  EXPECT_EQ(session.query("select  count(*)\nfrom people", epsilon(0.3)), first);
  EXPECT_EQ(Session(policy_path()).query(kCount, epsilon(0.3)), first);
  EXPECT_NEAR(spent(), 0.3, 1e-9);
  // What changes the answer makes it another question.
  session.query(kCount, epsilon(0.2));
  session.query("SELECT COUNT(*) FROM people WHERE age < 50", epsilon(0.1));
  session.query(kCount, epsilon(0.3), "my own");
  EXPECT_NEAR(spent(), 0.9, 1e-9);
}

TEST_F(SessionTest, StopsHardAtTheTotal) {
  Session session(policy_path());
  for (int i = 0; i < 10; ++i) session.query(kCount, epsilon(0.1), std::to_string(i));
  EXPECT_EQ(code_of([&] { session.query(kCount, epsilon(1e-9)); }), ErrorCode::budget_exceeded);
  EXPECT_EQ(session.budget().epsilon_left, 0);
  EXPECT_EQ(session.budget().spends.size(), 10u);
}

TEST_F(SessionTest, ExplainTouchesNothing) {
  std::filesystem::remove(folder_ / "people.csv");
  const Session session(policy_path());
  EXPECT_EQ(session.explain(kCount, epsilon(0.1)).aggregates.size(), 1u);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "people.ledger"));
}

TEST_F(SessionTest, ASecondPolicyMakesNoSecondBudget) {
  Session(policy_path()).query(kCount, epsilon(1));
  // Drafted anew, it names the same budget.
  InitRequest again;
  again.files = {folder_ / "people.csv"};
  again.output = folder_ / "second.toml";
  EXPECT_TRUE(init_policy(again).shared_budget);
  EXPECT_EQ(code_of([&] { Session(folder_ / "second.toml").query(kCount, epsilon(0.5)); }),
            ErrorCode::budget_exceeded);
  // Edited by hand, another lineage or ledger is a conflict.
  const std::string policy = read_file(policy_path());
  for (const auto& [from, to] : {std::pair{"people.ledger", "other.ledger"},
                                 std::pair{"lineage = \"people", "lineage = \"x"}}) {
    std::string edited = policy;
    edited.replace(edited.find(from), std::string(from).size(), to);
    write_file_durably(folder_ / "third.toml", edited, IfExists::replace);
    EXPECT_EQ(code_of([&] { Session(folder_ / "third.toml").query(kCount, epsilon(0.5)); }),
              ErrorCode::conflict)
        << to;
  }
  // Through a link it is the same data.
  std::filesystem::create_directory(folder_ / "elsewhere");
  std::filesystem::create_symlink(folder_ / "people.csv", folder_ / "elsewhere" / "people.csv");
  InitRequest linked;
  linked.files = {folder_ / "elsewhere" / "people.csv"};
  EXPECT_TRUE(init_policy(linked).shared_budget);
  // Unless the owner says so.
  InitRequest another;
  another.files = {folder_ / "people.csv"};
  another.output = folder_ / "fourth.toml";
  another.new_budget = true;
  another.ledger = folder_ / "fourth.ledger";
  EXPECT_FALSE(init_policy(another).shared_budget);
  EXPECT_EQ(Session(folder_ / "fourth.toml").query(kCount, epsilon(0.5)).columns.size(), 1u);
}

// Whoever calls budgeted data public would have its rows for nothing.
TEST_F(SessionTest, BudgetedDataIsNotPublic) {
  write_file_durably(folder_ / "ids.csv", "id\n1\n2\n", IfExists::refuse);
  const auto policy = [&](const std::string& source, const std::string& other) {
    const std::filesystem::path path = folder_ / "second.toml";
    write_file_durably(path,
                       "[dataset]\nname = \"second\"\nlineage = \"second\"\n"
                       "[privacy]\nunit = \"row\"\nneighbors = \"add_remove\"\n"
                       "[budget]\nepsilon = 1\ndelta = 0\nledger = \"second.ledger\"\n"
                       "[table.ids]\nsource = \"" +
                           other +
                           "\"\nformat = \"csv\"\n[table.ids.column.id]\ntype = \"integer\"\n"
                           "[table.leak]\nsource = \"" +
                           source +
                           "\"\nformat = \"csv\"\npublic = true\n"
                           "[table.leak.column.id]\ntype = \"integer\"\nunique = true\n",
                       IfExists::replace);
    return path;
  };
  std::filesystem::create_symlink(folder_ / "people.csv", folder_ / "link.csv");
  for (const char* source : {"people.csv", "link.csv"}) {
    const auto path = policy(source, "ids.csv");
    EXPECT_EQ(code_of([&] { Session{path}; }), ErrorCode::conflict);
    EXPECT_EQ(code_of([&] {
                import_table({.policy = path, .table = "leak", .output = folder_ / "leak.parquet"});
              }),
              ErrorCode::conflict);
  }
  EXPECT_FALSE(std::filesystem::exists(folder_ / "leak.parquet"));
  // One policy cannot have it both ways, though no marker tells yet.
  EXPECT_EQ(code_of([&] { Session{policy("ids.csv", "ids.csv")}; }), ErrorCode::conflict);
  std::string server = read_file(policy("ids.csv", "ids.csv"));
  for (const char* from : {"ids.csv\"\nformat = \"csv\"", "ids.csv\"\nformat = \"csv\""})
    server.replace(server.find(from), std::string(from).size(),
                   "public.ids\"\nformat = \"postgresql\"");
  write_file_durably(folder_ / "server.toml", server, IfExists::refuse);
  EXPECT_EQ(code_of([&] { Session{folder_ / "server.toml"}; }), ErrorCode::conflict);
  // Nor can a session that began before the budget did.
  write_file_durably(folder_ / "late.csv", "id\n1\n2\n", IfExists::refuse);
  Session session(policy("late.csv", "ids.csv"));
  const char* ask = "SELECT COUNT(*) FROM ids JOIN leak ON ids.id = leak.id";
  session.query(ask, epsilon(0.1));
  InitRequest late;
  late.files = {folder_ / "late.csv"};
  init_policy(late);
  EXPECT_EQ(code_of([&] { session.query(ask, epsilon(0.2)); }), ErrorCode::conflict);
  EXPECT_EQ(code_of([&] { session.explain(ask, epsilon(0.2)); }), ErrorCode::conflict);
  EXPECT_NEAR(Session(policy("other.csv", "ids.csv")).budget().epsilon_spent, 0.1, 1e-9);
}

TEST_F(SessionTest, ImportingAPublicTableGivesItNoBudget) {
  write_file_durably(folder_ / "states.csv", "state\nTX\nCA\n", IfExists::refuse);
  std::string text = read_file(policy_path());
  text +=
      "\n[table.states]\nsource = \"states.csv\"\nformat = \"csv\"\npublic = true\n"
      "[table.states.column.state]\ntype = \"text\"\n";
  const auto at = text.find("unit = \"row\"");
  text.replace(at, 12, "unit = \"person\"");
  const auto table = text.find("[table.people]\n");
  text.insert(table + 15, "person_column = \"id\"\n");
  write_file_durably(policy_path(), text, IfExists::replace);
  EXPECT_EQ(import_table(
                {.policy = policy_path(), .table = "states", .output = folder_ / "states.parquet"})
                .report.rows,
            2);
  EXPECT_TRUE(catalog::read_marks(folder_ / "states.csv").empty());
  EXPECT_TRUE(catalog::read_marks(folder_ / "states.parquet").empty());
}

TEST_F(SessionTest, APublicFileIsDraftedAsAsked) {
  write_file_durably(folder_ / "states.csv", "state\nTX\nCA\n", IfExists::refuse);
  InitRequest request;
  request.files = {folder_ / "people.csv", folder_ / "states.csv"};
  request.output = folder_ / "both.toml";
  request.person_column = "id";
  try {
    init_policy(request);
    ADD_FAILURE() << "states have no person";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::not_found);
    for (const char* remedy : {"via", "--public states.csv"})
      EXPECT_NE(std::string(error.what()).find(remedy), std::string::npos) << error.what();
  }
  request.public_files = {request.files.back()};
  request.files.pop_back();
  request.replace = true;  // the unit that the first policy gave the data
  init_policy(request);
  const Session session(folder_ / "both.toml");
  EXPECT_TRUE(session.policy().find_table("states", true)->is_public);
  EXPECT_FALSE(session.policy().find_table("people", true)->is_public);
  EXPECT_TRUE(catalog::read_marks(folder_ / "states.csv").empty());
  // Budgeted data is not.
  InitRequest leak;
  leak.files = {folder_ / "states.csv"};
  leak.public_files = {folder_ / "people.csv"};
  leak.output = folder_ / "leak.toml";
  EXPECT_EQ(code_of([&] { init_policy(leak); }), ErrorCode::conflict);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "leak.toml"));
  EXPECT_TRUE(catalog::read_marks(folder_ / "states.csv").empty());
}

// A pattern would bring the rows of other files, with budgets of their own.
TEST_F(SessionTest, OneFileIsRead) {
  write_file_durably(folder_ / "peopl?.csv", "id,age\n1,1\n", IfExists::refuse);
  InitRequest request;
  request.files = {folder_ / "peopl?.csv"};
  EXPECT_EQ(code_of([&] { init_policy(request); }), ErrorCode::invalid_argument);
  EXPECT_EQ(
      code_of([&] { import_table({.policy = policy_path(), .output = folder_ / "a*.parquet"}); }),
      ErrorCode::invalid_argument);
  change("source = \"people.csv\"", "source = \"peopl?.csv\"");
  EXPECT_EQ(code_of([&] { Session{policy_path()}; }), ErrorCode::invalid_argument);
  EXPECT_EQ(
      code_of([&] { import_table({.policy = policy_path(), .output = folder_ / "a.parquet"}); }),
      ErrorCode::invalid_argument);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "a.parquet"));
}

TEST_F(SessionTest, ALargerTotalNeedsTheOwner) {
  Session(policy_path()).query(kCount, epsilon(1));
  change("epsilon = 1.0", "epsilon = 5.0");
  Session session(policy_path());
  EXPECT_EQ(code_of([&] { session.query(kCount, epsilon(0.1)); }), ErrorCode::conflict);
  session.accept_policy_budget();
  session.query(kCount, epsilon(4));
  EXPECT_NEAR(spent(), 5, 1e-9);
}

TEST_F(SessionTest, ASmallerTotalHolds) {
  Session(policy_path()).query(kCount, epsilon(0.4));
  change("epsilon = 1.0", "epsilon = 0.5");
  EXPECT_EQ(code_of([&] { Session(policy_path()).query(kCount, epsilon(0.2)); }),
            ErrorCode::budget_exceeded);
}

TEST_F(SessionTest, AnotherRelationOrUnitIsAConflict) {
  Session(policy_path()).query(kCount, epsilon(0.1));
  change("neighbors = \"add_remove\"", "neighbors = \"replace_one\"");
  EXPECT_EQ(code_of([&] { Session(policy_path()).query(kCount, epsilon(0.1)); }),
            ErrorCode::conflict);
}

// Tables may join a policy in use, whatever their person column is called; rows stay another unit.
TEST_F(SessionTest, AFurtherTableIsNoConflict) {
  change("unit = \"row\"", "unit = \"person\"");
  change_terms("[table.people]\n",
               "[table.people]\nperson_column = \"id\"\nmax_rows_per_person = 1\n");
  Session(policy_path()).query(kCount, epsilon(0.1));
  EXPECT_EQ(Session(policy_path()).budget().unit, "one person (id)");
  write_file_durably(folder_ / "more.csv", "k,state\n1,TX\n", IfExists::refuse);
  std::string policy = read_file(policy_path());
  const std::string columns =
      "[table.more.column.k]\ntype = \"integer\"\n[table.more.column.state]\ntype = \"text\"\n";
  const std::string head = "\n[table.more]\nsource = \"more.csv\"\nformat = \"csv\"\n";
  for (const std::string kind :
       {"public = true\n", "via = {column = \"k\", references = \"people.id\"}\n",
        "person_column = \"k\"\nmax_rows_per_person = 2\n"}) {
    SCOPED_TRACE(kind);
    write_file_durably(policy_path(), policy + head + kind + columns, IfExists::replace);
    Session session(policy_path());
    session.query(kCount, epsilon(0.1), kind.substr(0, 6));
    EXPECT_EQ(session.budget().unit.find("( "), std::string::npos);
  }
  EXPECT_NEAR(spent(), 0.4, 1e-9);
  // Drafted anew it shares the budget, with a word about the column.
  InitRequest again;
  again.files = {folder_ / "people.csv"};
  again.output = folder_ / "second.toml";
  again.person_column = "age";
  const InitResult second = init_policy(again);
  EXPECT_TRUE(second.shared_budget);
  ASSERT_FALSE(second.hints.empty());
  EXPECT_NE(second.hints[0].find("both must name the same people"), std::string::npos);
  again.output = folder_ / "third.toml";
  again.person_column = "";
  EXPECT_EQ(code_of([&] { init_policy(again); }), ErrorCode::conflict);
}

// Exchanging a row moves a count by one, as adding one does: the price is the same, and the stored
// event says why.
TEST_F(SessionTest, AnExchangeIsPricedForWhatItMoves) {
  change_terms("neighbors = \"add_remove\"", "neighbors = \"replace_one\"");
  Session session(policy_path());
  session.query(kCount, epsilon(0.25));
  const BudgetReport budget = session.budget({.reprice = true});
  EXPECT_NEAR(budget.epsilon_spent, 0.25, 1e-9);
  const std::string event = privacy::to_json(budget.spends[0].event);
  EXPECT_NE(event.find("\"replace_sensitivity\":1"), std::string::npos) << event;
  EXPECT_EQ(budget.repriced, budget.spent);
}

// Two counts, taken as one plan, cost no more than their sum and no less than either.
TEST_F(SessionTest, TheCertifiedTotalStandsBesideTheFilter) {
  Session session(policy_path());
  session.query(kCount, epsilon(0.25));
  session.query(kCount, epsilon(0.5), "again");
  const privacy::Bounds bounds = certified_total(session.budget()).bounds;
  EXPECT_LE(bounds.lower, bounds.upper);
  EXPECT_GT(bounds.lower, 0.7499999);  // at delta 0 nothing is gained
  EXPECT_LE(bounds.upper, 0.7500001);
}

TEST_F(SessionTest, ALostLedgerIsNoticed) {
  Session(policy_path()).query(kCount, epsilon(0.9));
  std::filesystem::remove(folder_ / "people.ledger");
  EXPECT_EQ(code_of([&] { Session(policy_path()).query(kCount, epsilon(0.9)); }),
            ErrorCode::corrupt);
  EXPECT_EQ(code_of([&] { Session(policy_path()).budget(); }), ErrorCode::corrupt);
}

TEST_F(SessionTest, WrongRequestsSpendNothing) {
  Session session(policy_path());
  session.query(kCount, epsilon(0.1));
  EXPECT_EQ(code_of([&] { session.query("SELECT COUNT(*) FROM nobody", epsilon(0.1)); }),
            ErrorCode::not_found);
  EXPECT_EQ(code_of([&] { session.query(kCount, epsilon(0.1), std::string(300, 'k')); }),
            ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([&] { session.query(kCount, epsilon(0.1), "a\nb"); }),
            ErrorCode::invalid_argument);
  std::filesystem::rename(folder_ / "people.csv", folder_ / "moved.csv");
  EXPECT_EQ(code_of([&] { session.query(kCount, epsilon(0.1), "new"); }), ErrorCode::not_found);
  // What is known needs no data.
  EXPECT_TRUE(session.query(kCount, epsilon(0.1)).repeated);
  EXPECT_NEAR(spent(), 0.1, 1e-9);
}

TEST_F(SessionTest, AnOddRowChangesNoErrorAndNoPrice) {
  Session session(policy_path());
  const Answer before = session.query("SELECT SUM(age) FROM people", epsilon(0.2));
  std::string text = read_file(folder_ / "people.csv");
  text += "7,not a number\n8,1e999\n9\n10,11,12,13\n\"unclosed,1\n";
  write_file_durably(folder_ / "people.csv", text, IfExists::replace);
  settle_data(policy_path());
  const Answer after = session.query("SELECT SUM(age) FROM people", epsilon(0.2), "again");
  EXPECT_EQ(before.columns[0].noise, after.columns[0].noise);
  EXPECT_EQ(before.epsilon, after.epsilon);
}

// What is asked of is what its owner settled: other data is refused before anything is spent.
TEST_F(SessionTest, ChangedDataIsRefusedUntilItsOwnerImportsIt) {
  Session session(policy_path());
  session.query(kCount, epsilon(0.2));
  const std::string text = read_file(folder_ / "people.csv");
  write_file_durably(folder_ / "people.csv", text + "77,12\n", IfExists::replace);
  EXPECT_EQ(code_of([&] { session.query(kCount, epsilon(0.3)); }), ErrorCode::conflict);
  EXPECT_NEAR(spent(), 0.2, 1e-9);
  EXPECT_EQ(session.budget().spends.size(), 1U);
  EXPECT_EQ(settle_data(policy_path()).at(0).report.when, engine::Settled::now);
  session.query(kCount, epsilon(0.3));
  EXPECT_NEAR(spent(), 0.5, 1e-9);
  EXPECT_EQ(settle_data(policy_path()).at(0).report.when, engine::Settled::before);
}

// A snapshot is the same data: it has no budget of its own, and none begins with it.
TEST_F(SessionTest, ASnapshotBelongsToTheBudgetOfItsSource) {
  Session(policy_path()).query(kCount, epsilon(0.2));
  const std::filesystem::path rows = catalog::rows_folder(folder_ / "people.csv");
  const std::filesystem::path snapshot =
      rows / catalog::RowsManifest(folder_ / "people.csv").settled().at(0).file;
  const auto marks = catalog::read_marks(snapshot);
  ASSERT_EQ(marks.size(), 1U);
  EXPECT_EQ(marks[0].lineage, catalog::load_policy(policy_path()).lineage);
  change("source = \"people.csv\"", "source = \"" + snapshot.string() + "\"");
  change("format = \"csv\"", "format = \"parquet\"");
  change("delimiter = \",\"\nquote = \"\\\"\"\n", "");
  EXPECT_EQ(code_of([&] { settle_data(policy_path()); }), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([&] { Session(policy_path()).query(kCount, epsilon(0.1)); }),
            ErrorCode::invalid_argument);
}

// A source whose bits end after so many bytes.
class FewBits final : public random::BitSource {
 public:
  explicit FewBits(std::size_t bytes) : left_(bytes) {}
  void fill(std::span<unsigned char> into) override {
    if (into.size() > left_) throw Error(ErrorCode::unavailable, "no bits");
    left_ -= into.size();
    std::fill(into.begin(), into.end(), static_cast<unsigned char>(0x5a));
  }

 private:
  std::size_t left_;
};

TEST_F(SessionTest, WithoutBitsNothingIsSpent) {
  FewBits bits(0);
  EXPECT_EQ(code_of([&] { Session(policy_path()).query(kCount, epsilon(0.25), "k", bits); }),
            ErrorCode::unavailable);
  EXPECT_EQ(spent(), 0);
}

TEST_F(SessionTest, WhenBitsEndBeforeTheNoiseNothingLeavesAndTheSpendStands) {
  FewBits bits(16);
  EXPECT_EQ(code_of([&] { Session(policy_path()).query(kCount, epsilon(0.25), "k", bits); }),
            ErrorCode::internal);
  EXPECT_NEAR(spent(), 0.25, 1e-9);
  EXPECT_EQ(Session(policy_path()).budget().spends.at(0).state, "failed");
}

// One failure closes the data set to every question, old and new, until the owner has looked; the
// policy can allow more.
TEST_F(SessionTest, AFailureClosesTheDataSetToEverybody) {
  const Answer before = Session(policy_path()).query(kCount, epsilon(0.1));
  FewBits bits(16);
  EXPECT_EQ(code_of([&] { Session(policy_path()).query(kCount, epsilon(0.2), "k", bits); }),
            ErrorCode::internal);
  const double price = spent();
  std::set<std::string> told;
  for (const double each : {0.1, 0.2, 0.3}) {
    try {
      Session(policy_path()).query(kCount, epsilon(each));
      ADD_FAILURE() << each;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::refused_by_policy);
      told.insert(error.what());
    }
  }
  EXPECT_EQ(told.size(), 1U) << "one sentence, whatever is asked";
  EXPECT_EQ(spent(), price);
  Session(policy_path()).reopen("looked");
  EXPECT_EQ(Session(policy_path()).query(kCount, epsilon(0.1)).rows, before.rows);
  // What failed is told again under its key, unpaid.
  EXPECT_EQ(code_of([&] { Session(policy_path()).query(kCount, epsilon(0.2), "k"); }),
            ErrorCode::internal);
  EXPECT_EQ(spent(), price);
}

TEST_F(SessionTest, ThePolicyCanAllowMoreFailures) {
  change("[budget]\n", "[budget]\nmax_failures = 2\n");
  for (const char* key : {"one", "two"}) {
    FewBits bits(16);
    EXPECT_EQ(code_of([&] { Session(policy_path()).query(kCount, epsilon(0.1), key, bits); }),
              ErrorCode::internal)
        << key;
  }
  EXPECT_EQ(code_of([&] { Session(policy_path()).query(kCount, epsilon(0.1)); }),
            ErrorCode::refused_by_policy);
}

TEST_F(SessionTest, AReportListsTheLastSpendsAndCountsAll) {
  Session session(policy_path());
  for (int i = 0; i < 25; ++i) session.query(kCount, epsilon(0.01), "key " + std::to_string(i));
  const BudgetReport report = session.budget();
  EXPECT_EQ(report.spend_count, 25);
  ASSERT_EQ(report.spends.size(), 20u);
  EXPECT_EQ(report.spends.front().request_key, "key 5");
  EXPECT_EQ(report.spends.back().request_key, "key 24");
  EXPECT_EQ(test::code_of([&] { certified_total(report); }), ErrorCode::internal);
  BudgetDetail everything;
  everything.last_spends = BudgetDetail::kAllSpends;
  everything.verify = true;
  EXPECT_EQ(session.budget(everything).spends.size(), 25u);
}

// An open session goes on with a ledger that others write, and notices one that was replaced.
TEST_F(SessionTest, AnOpenSessionNoticesALedgerThatWasReplaced) {
  Session session(policy_path());
  session.query(kCount, epsilon(0.1));
  Session(policy_path()).query(kCount, epsilon(0.2), "other's");
  EXPECT_NEAR(session.budget().epsilon_spent, 0.3, 1e-9);
  session.backup(folder_ / "backup");  // the newest: an older one is behind its witness
  for (const char* suffix : {"", "-wal", "-shm"})
    std::filesystem::rename(folder_ / (std::string("people.ledger") + suffix),
                            folder_ / (std::string("away") + suffix));
  std::filesystem::rename(folder_ / "backup", folder_ / "people.ledger");
  EXPECT_NEAR(session.budget().epsilon_spent, 0.3, 1e-9);
  EXPECT_TRUE(session.query(kCount, epsilon(0.2), "other's").repeated);
}

// So does one whose engine is kept: a file that changed is refused as if it were opened anew.
TEST_F(SessionTest, AnOpenSessionNoticesAFileThatWasReplaced) {
  std::this_thread::sleep_for(std::chrono::milliseconds(150));
  Session session(policy_path());
  session.query(kCount, epsilon(0.1), "opened");
  session.query(kCount, epsilon(0.1), "kept");
  const std::string text = read_file(folder_ / "people.csv");
  write_file_durably(folder_ / "people.csv", text + "500,30\n", IfExists::replace);
  EXPECT_EQ(code_of([&] { session.query(kCount, epsilon(0.1), "refused"); }), ErrorCode::conflict);
  write_file_durably(folder_ / "people.csv", text, IfExists::replace);
  EXPECT_NO_THROW(session.query(kCount, epsilon(0.1), "as before"));
  EXPECT_NEAR(spent(), 0.3, 1e-9);
}

// What was converted holds at a moment fixed in advance; who stops when the answers please needs
// the odometer's larger number. A plain sum holds at all times.
TEST_F(SessionTest, TheGuaranteeHoldsWheneverOneStops) {
  Session(policy_path()).query(kCount, epsilon(0.1));
  BudgetReport report = Session(policy_path()).budget();
  EXPECT_EQ(report.epsilon_at_any_time, report.epsilon_spent);
  EXPECT_EQ(report.statement.find("fixed in advance"), std::string::npos) << report.statement;
  test::TemporaryFolder other;
  write_file_durably(other / "p.csv", read_file(folder_ / "people.csv"), IfExists::refuse);
  InitRequest request;
  request.files = {other / "p.csv"};
  request.epsilon = 2;
  request.delta = 1e-3;
  init_policy(request);
  plan::QueryOptions gaussian = epsilon(0.5);
  gaussian.delta = 1e-4;
  gaussian.noise = plan::NoiseChoice::gaussian;
  Session session(other / "p.toml");
  session.query("SELECT COUNT(*) FROM p", gaussian);
  report = session.budget();
  EXPECT_GT(report.epsilon_at_any_time, report.epsilon_spent);
  EXPECT_NE(report.statement.find("whenever you stop"), std::string::npos) << report.statement;
  EXPECT_NE(report.statement.find("fixed in advance"), std::string::npos) << report.statement;
}

TEST_F(SessionTest, ImportedDataKeepsItsBudget) {
  Session(policy_path()).query(kCount, epsilon(0.6));
  import_table({.policy = policy_path(), .output = folder_ / "people.parquet"});
  change("source = \"people.csv\"", "source = \"people.parquet\"");
  change("format = \"csv\"", "format = \"parquet\"");
  change("delimiter = \",\"\nquote = \"\\\"\"\n", "");
  Session session(policy_path());
  session.query(kCount, epsilon(0.4));
  EXPECT_EQ(code_of([&] { session.query(kCount, epsilon(0.01)); }), ErrorCode::budget_exceeded);
}

TEST(AnswerJson, RoundTripsAndRefusesDamage) {
  Answer answer;
  answer.columns.push_back({"n", "count", "integer", {}, {{"rows", "discrete_laplace", 2, 1, 1}}});
  answer.columns.push_back({"m", "average", "real", catalog::Bounds{0, 2}, {}});
  answer.rows = {{{-3.0, 0, 12}, {1.5, 1.25, 1.75}}};
  answer.epsilon = 0.1;
  answer.statement = "private";
  answer.entry = 4;
  answer.key = "k";
  EXPECT_EQ(answer_from_json(to_json(answer)), answer);
  answer.columns.push_back({"city", "key", "text", {}, {}});
  answer.rows = {{{-3.0, 0, 12}, {std::monostate{}}, {std::string("Ulm")}},
                 {{7.0, 0, 12}, {1.0, 0, 2}, {std::monostate{}}},
                 {{7.0, 0, 12}, {1.0}, {true}}};
  answer.hidden = HiddenGroups{14, 1, "laplace_threshold"};
  EXPECT_EQ(answer_from_json(to_json(answer)), answer);
  EXPECT_THROW(answer_from_json("{}"), Error);
  EXPECT_THROW(answer_from_json("not json"), Error);
  try {
    answer_from_json(failure_json("it failed"));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::internal);
    EXPECT_STREQ(error.what(), "it failed");
  }
}

}  // namespace
}  // namespace shoal::session
