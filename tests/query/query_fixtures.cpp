#include "query/query_fixtures.hpp"

#include <fmt/format.h>

namespace shoal::test {
namespace {

constexpr const char* kPeople = R"([dataset]
name = "people"
lineage = "people-test"
[privacy]
unit = "row"
neighbors = "add_remove"
[budget]
epsilon = 1000
delta = 1e-3
ledger = "people.ledger"
[query]
time_steps = 0
[table.people]
source = "people.csv"
format = "csv"
[table.people.column.id]
type = "integer"
[table.people.column.state]
type = "text"
categories = ["TX", "CA"]
[table.people.column.age]
type = "integer"
bounds = [0, 100]
[table.people.column.height]
type = "real"
bounds = [0, 2.5]
nulls = false
[table.people.column.wage]
type = "real"
[table.people.column.active]
type = "boolean"
[table.people.column.born]
type = "date"
[table.people.column.seen]
type = "timestamp"
[table.people.column.secret]
type = "text"
queryable = false
)";

constexpr const char* kHospital = R"([dataset]
name = "hospital"
lineage = "hospital-test"
[privacy]
unit = "person"
neighbors = "add_remove"
[budget]
epsilon = 1000
delta = 1e-3
ledger = "hospital.ledger"
[query]
time_steps = 0
[table.patients]
source = "patients.csv"
format = "csv"
person_column = "person_id"
max_rows_per_person = 1
max_groups_per_person = 1
[table.patients.column.person_id]
type = "integer"
[table.patients.column.region]
type = "text"
[table.patients.column.age]
type = "integer"
bounds = [0, 100]
[table.visits]
source = "visits.csv"
format = "csv"
person_column = "person_id"
max_rows_per_person = 10
max_groups_per_person = 5
[table.visits.column.visit_id]
type = "integer"
[table.visits.column.person_id]
type = "integer"
[table.visits.column.ward]
type = "text"
[table.visits.column.cost]
type = "real"
bounds = [0, 200]
[table.visits.column.day]
type = "date"
[table.beds]
source = "beds.csv"
format = "csv"
via = {column = "visit_id", references = "visits.visit_id"}
max_rows_per_person = 10
max_groups_per_person = 3
[table.beds.column.visit_id]
type = "integer"
[table.beds.column.nights]
type = "integer"
bounds = [0, 10]
[table.regions]
source = "regions.csv"
format = "csv"
public = true
[table.regions.column.region]
type = "text"
unique = true
[table.regions.column.country]
type = "text"
)";

std::string people() {
  std::string text = "id,state,age,height,wage,active,born,seen,secret\n";
  for (int i = 0; i < 1000; ++i) {
    text +=
        fmt::format("{},{},{},{},{},{},19{:02}-01-15,2024-03-{:02} 08:30:00,s{}\n", i % 10,
                    i % 4 == 0 ? "TX" : "CA", i % 7 == 0 ? "" : std::to_string(i / 10),
                    1.0 + (i % 3) * 0.25, i, i % 2 == 0 ? "true" : "false", i % 100, 1 + i % 28, i);
  }
  return text;
}

}  // namespace

QueryFixture people_fixture() { return {"people", kPeople, {{"people.csv", people()}}}; }

QueryFixture hospital_fixture() {
  std::string patients = "person_id,region,age\n";
  std::string visits = "visit_id,person_id,ward,cost,day\n";
  std::string beds = "visit_id,nights\n";
  int visit = 0;
  for (int person = 0; person < 600; ++person) {
    patients += fmt::format("{},R{},{}\n", person, person % 3, person % 100);
    for (int j = 0; j <= person % 5; ++j) {
      visits += fmt::format("{},{},{},{},2024-0{}-15\n", visit, person,
                            static_cast<char>('A' + (person + j) % 4), (person * 7 + j * 13) % 200,
                            1 + (person + j) % 9);
      beds += fmt::format("{},{}\n", visit, 1 + person % 3);
      ++visit;
    }
  }
  const std::string regions = "region,country\nR0,north\nR1,north\nR2,south\nR3,south\n";
  return {"hospital",
          kHospital,
          {{"patients.csv", patients},
           {"visits.csv", visits},
           {"beds.csv", beds},
           {"regions.csv", regions}}};
}

}  // namespace shoal::test
