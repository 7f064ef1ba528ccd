// What AdaSSP releases: the sums of x x' and x y with noise. Everything made of them is free.
#pragma once

#include <shoal/learn/adassp.hpp>
#include <shoal/learn/rows.hpp>
#include <shoal/random/bit_source.hpp>

#include <Eigen/Core>

namespace shoal::learn {

struct NoisySums {
  Eigen::MatrixXd matrix;  // symmetric
  Eigen::VectorXd vector;
};

// The noise is drawn before a row is looked at.
NoisySums noisy_sums(const AdaSsp& method, const RowSource& rows, random::BitSource& bits,
                     unsigned threads);

}  // namespace shoal::learn
