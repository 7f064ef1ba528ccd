// What tests of the sparse vector share: transcripts, and the probabilities of its continuous
// ancestors by quadrature, for values published for those.
#pragma once

#include <shoal/mechanism/sparse_vector.hpp>

#include <boost/math/quadrature/gauss_kronrod.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

namespace shoal::test {

using mechanism::Verdict;
using Verdicts = std::vector<Verdict>;

// "0101" as verdicts: 1 is above.
inline Verdicts verdicts_of(const std::string& text) {
  Verdicts verdicts;
  for (const char c : text) verdicts.push_back(c == '1' ? Verdict::above : Verdict::below);
  return verdicts;
}

// Every list of `questions` verdicts that stops after `hits` hits.
inline std::vector<Verdicts> all_transcripts(std::size_t questions, std::int64_t hits) {
  std::vector<Verdicts> done;
  std::function<void(Verdicts, std::int64_t)> grow = [&](Verdicts so_far, std::int64_t left) {
    if (so_far.size() == questions || left == 0) {
      done.push_back(so_far);
      return;
    }
    for (const Verdict next : {Verdict::below, Verdict::above}) {
      Verdicts longer = so_far;
      longer.push_back(next);
      grow(longer, left - (next == Verdict::above ? 1 : 0));
    }
  };
  grow({}, hits);
  return done;
}

// Continuous noise of density e^(-|x| / scale), on both sides or on the positive one alone.
struct ContinuousNoise {
  double scale;
  bool one_sided;

  double density(double x) const {
    if (one_sided) return x < 0 ? 0 : std::exp(-x / scale) / scale;
    return std::exp(-std::abs(x) / scale) / (2 * scale);
  }
  double at_least(double x) const {
    if (one_sided) return x <= 0 ? 1 : std::exp(-x / scale);
    return x <= 0 ? 1 - std::exp(x / scale) / 2 : std::exp(-x / scale) / 2;
  }
};

// The probability of a transcript with one draw of the threshold's noise: integrated piece by piece
// between the kinks.
inline double continuous_probability(const std::vector<double>& excesses, const Verdicts& verdicts,
                                     ContinuousNoise threshold, ContinuousNoise query) {
  const auto integrand = [&](double z) {
    double product = threshold.density(z);
    for (std::size_t i = 0; i < verdicts.size(); ++i) {
      const double above = query.at_least(z - excesses[i]);
      product *= verdicts[i] == Verdict::above ? above : 1 - above;
    }
    return product;
  };
  const double reach = 60 * std::max(threshold.scale, query.scale);
  std::vector<double> ends = {threshold.one_sided ? 0 : -reach, 0, reach};
  for (const double excess : excesses) ends.push_back(std::max(excess, ends.front()));
  std::sort(ends.begin(), ends.end());
  double sum = 0;
  for (std::size_t i = 0; i + 1 < ends.size(); ++i) {
    if (ends[i] == ends[i + 1]) continue;
    sum += boost::math::quadrature::gauss_kronrod<double, 61>::integrate(integrand, ends[i],
                                                                         ends[i + 1], 15, 1e-12);
  }
  return sum;
}

}  // namespace shoal::test
