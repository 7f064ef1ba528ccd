// Writes a made-up census: people.csv (one row a person) and visits.csv (several rows a person, to
// a clinic). No real person is in it. The same seed and size give the same files.
//
//   census <folder> [people = 100000] [seed = 1]
//
// This is data, not noise: its randomness is a plain generator, apart from the library's secure
// one.
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>

namespace {

class Generator {
 public:
  explicit Generator(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    std::uint64_t z = state_ += 0x9E3779B97F4A7C15ull;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    return z ^ (z >> 31);
  }

  double uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }

  // Roughly normal: enough for a likely age or wage.
  double normal(double mean, double deviation) {
    double sum = 0;
    for (int i = 0; i < 12; ++i) sum += uniform();
    return mean + deviation * (sum - 6);
  }

  template <std::size_t N>
  std::size_t pick(const std::array<double, N>& weights) {
    double left = uniform();
    for (std::size_t i = 0; i + 1 < N; ++i) {
      left -= weights[i];
      if (left < 0) return i;
    }
    return N - 1;
  }

 private:
  std::uint64_t state_;
};

constexpr std::array kStates = {"CA", "TX", "FL", "NY", "PA", "IL", "OH", "GA", "NC", "MI"};
constexpr std::array<double, 10> kStateShare = {0.22, 0.17, 0.13, 0.11, 0.08,
                                                0.07, 0.07, 0.06, 0.05, 0.04};
constexpr std::array kSchooling = {"none", "school", "college", "degree"};
constexpr std::array<double, 4> kSchoolingShare = {0.10, 0.42, 0.26, 0.22};
constexpr std::array kReasons = {"check-up", "injury", "flu", "vaccination", "other"};
constexpr std::array<double, 5> kReasonShare = {0.35, 0.15, 0.2, 0.2, 0.1};

int clamp_round(double value, int low, int high) {
  const int rounded = static_cast<int>(std::lround(value));
  return rounded < low ? low : rounded > high ? high : rounded;
}

void write_person(std::ofstream& people, Generator& random, long id) {
  const int age =
      clamp_round(random.uniform() < 0.75 ? random.normal(44, 17) : random.normal(15, 8), 0, 104);
  const std::size_t schooling = age < 18 ? 0 : random.pick(kSchoolingShare);
  const bool works = age >= 18 && age < 70 && random.uniform() < 0.78;
  const int hours = works ? clamp_round(random.normal(39, 9), 1, 90) : 0;
  const double hourly = std::exp(random.normal(2.7 + 0.28 * static_cast<double>(schooling), 0.45));
  const long income = works ? std::lround(hourly * hours * 48) : 0;
  people << id << ',' << kStates[random.pick(kStateShare)] << ',' << age << ','
         << kSchooling[schooling] << ',' << hours << ',';
  // A few people do not say what they earn.
  if (random.uniform() > 0.02) people << income;
  people << ',' << (random.uniform() < 0.92 ? "true" : "false") << '\n';
}

void write_visits(std::ofstream& visits, Generator& random, long id, long& visit) {
  // Most people come rarely, a few very often.
  const int count = clamp_round(std::exp(random.normal(0.4, 1.0)) - 0.5, 0, 200);
  for (int i = 0; i < count; ++i) {
    const int day = 1 + static_cast<int>(random.uniform() * 28);
    const int month = 1 + static_cast<int>(random.uniform() * 12);
    const long cents = std::lround(100 * std::exp(random.normal(4.2, 0.8)));
    visits << ++visit << ',' << id << ",2025-" << (month < 10 ? "0" : "") << month << '-'
           << (day < 10 ? "0" : "") << day << ',' << kReasons[random.pick(kReasonShare)] << ','
           << cents / 100 << '.' << (cents % 100 < 10 ? "0" : "") << cents % 100 << '\n';
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::cerr << "usage: census <folder> [people = 100000] [seed = 1]\n";
    return 2;
  }
  const std::string folder = argv[1];
  const long size = argc > 2 ? std::strtol(argv[2], nullptr, 10) : 100000;
  Generator random(argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 1);
  std::ofstream people(folder + "/people.csv");
  std::ofstream visits(folder + "/visits.csv");
  people << "person_id,state,age,schooling,hours,income,insured\n";
  visits << "visit_id,person_id,day,reason,cost\n";
  long visit = 0;
  for (long id = 1; id <= size; ++id) {
    write_person(people, random, id);
    write_visits(visits, random, id, visit);
  }
  people.close();
  visits.close();
  if (!people || !visits) {
    std::cerr << "census: cannot write to " << folder << '\n';
    return 10;
  }
  std::cout << "wrote " << size << " people and " << visit << " visits (made up, seed "
            << (argc > 3 ? argv[3] : "1") << ") to " << folder << '\n';
  return 0;
}
