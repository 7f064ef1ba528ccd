// The training of each method: rows in, private weights out. Called by fit() alone, after the
// reservation was checked.
#pragma once

#include <shoal/learn/fit.hpp>

#include <vector>

namespace shoal::learn {

// Throws internal unless the rows keep the bounds that the problem's guarantees are made of.
void check_rows(const TrainingRows& rows, const Problem& problem);

std::vector<double> train(const ObjectivePerturbation& method, const Problem& problem,
                          const RowSource& rows, random::BitSource& bits,
                          const FitOptions& options);
std::vector<double> train(const OutputPerturbation& method, const Problem& problem,
                          const RowSource& rows, random::BitSource& bits,
                          const FitOptions& options);
std::vector<double> train(const MinimaPerturbation& method, const Problem& problem,
                          const RowSource& rows, random::BitSource& bits,
                          const FitOptions& options);
std::vector<double> train(const GradientDescent& method, const Problem& problem,
                          const RowSource& rows, random::BitSource& bits,
                          const FitOptions& options);
std::vector<double> train(const SampledDescent& method, const Problem& problem,
                          const RowSource& rows, random::BitSource& bits,
                          const FitOptions& options);
std::vector<double> train(const PrefixDescent& method, const Problem& problem,
                          const RowSource& rows, random::BitSource& bits,
                          const FitOptions& options);
std::vector<double> train(const BoltOnDescent& method, const Problem& problem,
                          const RowSource& rows, random::BitSource& bits,
                          const FitOptions& options);
std::vector<double> train(const AdaSsp& method, const Problem& problem, const RowSource& rows,
                          random::BitSource& bits, const FitOptions& options);
std::vector<double> train(const ExponentialChoice& method, const Problem& problem,
                          const RowSource& rows, random::BitSource& bits,
                          const FitOptions& options);
std::vector<double> train(const FrankWolfe& method, const Problem& problem, const RowSource& rows,
                          random::BitSource& bits, const FitOptions& options);

}  // namespace shoal::learn
