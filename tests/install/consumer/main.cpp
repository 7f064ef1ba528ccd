// A project of somebody else's: asks one question through the installed library.
#include <shoal/session/owner.hpp>
#include <shoal/session/session.hpp>

#include <filesystem>
#include <fstream>
#include <iostream>

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const std::filesystem::path folder = argv[1];
  std::ofstream(folder / "people.csv") << "age\n30\n40\n50\n";
  shoal::session::InitRequest request;
  request.files = {folder / "people.csv"};
  const auto policy = shoal::session::init_policy(request).policy;

  shoal::session::Session session(policy);
  shoal::plan::QueryOptions options;
  options.epsilon = 1;
  const auto answer = session.query("SELECT COUNT(*) FROM people", options);
  const auto& count = answer.rows.at(0).at(0);
  std::cout << shoal::session::number(count) << " in [" << *count.lower << ", " << *count.upper
            << "], " << answer.statement << "\n";
  return *count.lower <= *count.upper ? 0 : 1;
}
