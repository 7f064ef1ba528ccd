#include "adaptive/gaussian_widths.hpp"

#include "adaptive/minimum.hpp"

#include <shoal/base/error.hpp>
#include <shoal/mechanism/gaussian_calibration.hpp>
#include <shoal/numeric/directed.hpp>
#include <shoal/numeric/gaussian_delta.hpp>
#include <shoal/numeric/normal.hpp>

#include <boost/math/special_functions/erf.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace shoal::adaptive {
namespace {

using namespace numeric;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
// Searches are over logarithms; a part in 10^4 of a parameter is less than 10^-7 of a width.
constexpr int kSteps = 26;

double beta_of(const Sample& sample) { return subtract_down(1, sample.confidence.value()); }

double certified_quantile(double tail) {
  return tail >= 1 ? 0 : two_sided_normal_quantile_up(tail);
}

double normal_tail(double x) { return 0.5 * std::erfc(x / std::sqrt(2.0)); }

// Delta of mu-Gaussian noise at epsilon, nearly.
double rough_delta(double mu, double epsilon) {
  const double delta =
      normal_tail(epsilon / mu - mu / 2) - std::exp(epsilon) * normal_tail(epsilon / mu + mu / 2);
  return std::max(delta, 0.0);
}

// The sigma at which delta falls to this, nearly.
double rough_sigma(double sensitivity, double epsilon, double delta) {
  double low = std::log(sensitivity / 100);
  double high = std::log(sensitivity * 1e6);
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    (rough_delta(sensitivity / std::exp(middle), epsilon) > delta ? low : high) = middle;
  }
  return std::exp(high);
}

// The gap between posterior and population that epsilon leaves, and what delta adds to it except
// with chance `miss`.
double rough_gap(bool jung, double epsilon, double delta, double miss) {
  if (jung) return std::expm1(epsilon) + 2 * delta / miss;
  return std::tanh(epsilon / 2) + 2 * delta / ((1 + std::exp(epsilon)) * miss);
}

double certified_gap(bool jung, double epsilon, double delta, double miss) {
  if (jung) return add_up(expm1_up(epsilon), divide_up(2 * delta, miss));
  const double weight = multiply_down(add_down(1, exp_down(epsilon)), miss);
  return add_up(tanh_up(epsilon / 2), divide_up(2 * delta, weight));
}

// The least noise part plus slack, sigma z(c miss / k) + c, over the slack c in (0, 1).
struct Accuracy {
  double slack;
  double value;
};

Accuracy best_accuracy(double sigma, double miss, double questions) {
  const auto value = [&](double log_slack) {
    const double slack = std::exp(log_slack);
    return sigma * rough_quantile(slack * miss / questions) + slack;
  };
  const Minimum found = minimise(value, std::log(1e-9), std::log(0.5), kSteps);
  return {std::exp(found.at), found.value};
}

struct Gap {
  double epsilon;
  double value;
};

Gap best_gap(bool jung, double mu, double miss) {
  const auto value = [&](double log_epsilon) {
    const double epsilon = std::exp(log_epsilon);
    return rough_gap(jung, epsilon, rough_delta(mu, epsilon), miss);
  };
  const Minimum found = minimise(value, std::log(1e-3 * mu), std::log(40 * mu + mu * mu), kSteps);
  return {std::exp(found.at), found.value};
}

double noise_part_up(double sigma, double slack, double miss, double questions) {
  const double tail = divide_down(multiply_down(slack, miss), questions);
  return add_up(multiply_up(sigma, certified_quantile(tail)), slack);
}

double root_up(double x) { return sqrt_up(x); }

}  // namespace

double rough_quantile(double tail) {
  return tail >= 1 ? 0 : std::sqrt(2.0) * boost::math::erfc_inv(std::max(tail, 1e-300));
}

Width transfer_width_at(const Sample& sample, bool jung, double sigma) {
  const double beta = beta_of(sample);
  const double mu = std::sqrt(sample.questions) / (sample.rows * sigma);
  const auto value = [&](double part) {
    const double first = beta * part;
    return best_accuracy(sigma, first, sample.questions).value +
           best_gap(jung, mu, beta - first).value;
  };
  const double part = minimise(value, 0.02, 0.98, kSteps).at;
  const double first = multiply_down(beta, part);
  const double second = subtract_down(beta, first);
  const double slack = best_accuracy(sigma, first, sample.questions).slack;
  const double epsilon = best_gap(jung, mu, second).epsilon;
  // All of it once more, with every rounding to the safe side.
  const double sensitivity = divide_up(root_up(sample.questions), sample.rows);
  const double delta = gaussian_delta_up(sigma, sensitivity, epsilon);
  const double width = add_up(noise_part_up(sigma, slack, first, sample.questions),
                              certified_gap(jung, epsilon, delta, second));
  return {width, sigma, epsilon, delta, slack, slack * first};
}

Width transfer_width(const Sample& sample, bool jung) {
  // The noise at which sampling error and overfitting balance is near k^(1/4) / sqrt(n).
  const double middle = std::log(std::pow(sample.questions, 0.25) / std::sqrt(sample.rows));
  const double beta = beta_of(sample);
  const auto value = [&](double log_sigma) {
    const double sigma = std::exp(log_sigma);
    const double mu = std::sqrt(sample.questions) / (sample.rows * sigma);
    return best_accuracy(sigma, beta / 2, sample.questions).value +
           best_gap(jung, mu, beta / 2).value;
  };
  // First with the chance shared in halves, then nearby with the best share.
  const double near = minimise(value, middle - 8, middle + 4, 40).at;
  const auto exact = [&](double log_sigma) {
    return transfer_width_at(sample, jung, std::exp(log_sigma)).width;
  };
  return transfer_width_at(sample, jung, std::exp(minimise(exact, near - 0.3, near + 0.3, 9).at));
}

Width kl_width_at(const Sample& sample, double sigma) {
  const double beta = beta_of(sample);
  const double overfit = std::sqrt(sample.questions) / (4 * sample.rows * sigma);
  const auto value = [&](double part) {
    return best_accuracy(sigma, beta * part, sample.questions).value +
           overfit / std::sqrt(beta * (1 - part));
  };
  const double part = minimise(value, 0.001, 0.98, 40).at;
  const double first = multiply_down(beta, part);
  const double second = subtract_down(beta, first);
  const double slack = best_accuracy(sigma, first, sample.questions).slack;
  const double gap =
      divide_up(root_up(sample.questions),
                multiply_down(multiply_down(4 * sample.rows, sigma), sqrt_down(second)));
  return {add_up(noise_part_up(sigma, slack, first, sample.questions), gap),
          sigma,
          0,
          0,
          slack,
          slack * first};
}

Width kl_width(const Sample& sample) {
  const double middle = std::log(std::pow(sample.questions, 0.25) / std::sqrt(sample.rows));
  const auto value = [&](double log_sigma) {
    return kl_width_at(sample, std::exp(log_sigma)).width;
  };
  return kl_width_at(sample, std::exp(minimise(value, middle - 6, middle + 8, 40).at));
}

Width rogers_width(const Sample& sample) {
  const double beta = beta_of(sample);
  const double n = sample.rows;
  const double k = sample.questions;
  const auto overfit = [&](double rho, double share) {
    const double information = add_up(multiply_up(multiply_up(2 * rho, k), n), -log1p_down(-share));
    return sqrt_up(divide_up(divide_up(information, share), multiply_down(2 * n, beta)));
  };
  const auto noise = [&](double rho) {
    const double logarithm = log_up(divide_up(4 * k, beta));
    return divide_up(sqrt_up(divide_up(logarithm, rho)), 2 * n);
  };
  const auto best_share = [&](double rho) {
    return minimise([&](double share) { return overfit(rho, share); }, 1e-3, 1 - 1e-9, 40);
  };
  const auto value = [&](double log_rho) {
    const double rho = std::exp(log_rho);
    return best_share(rho).value + noise(rho);
  };
  const double middle = -std::log(n * std::sqrt(k));
  const double rho = std::exp(minimise(value, middle - 14, middle + 14, 60).at);
  return {add_up(best_share(rho).value, noise(rho)), 1 / (n * std::sqrt(8 * rho)), 0, 0, 0, 0};
}

Width bnsssu_width(const Sample& sample) {
  const double beta = beta_of(sample);
  const double sensitivity = divide_up(root_up(sample.questions), sample.rows);
  const auto sigma_of = [&](double width) {
    const double miss = width * beta / 16;
    return width / 8 / rough_quantile(miss / sample.questions) * (1 - 1e-9);
  };
  const auto fits = [&](double width) {
    return gaussian_delta_up(sigma_of(width), sensitivity, width / 64) <= width * beta / 32;
  };
  if (!fits(1)) return {.width = kInfinity};
  double low = 0;
  double high = 1;
  for (int i = 0; i < 45; ++i) {
    const double middle = (low + high) / 2;
    (middle > 0 && fits(middle) ? high : low) = middle;
  }
  return {high, sigma_of(high), high / 64, high * beta / 32, 0, high * beta / 16};
}

Width dfhprr_width(const Sample& sample) {
  const double beta = beta_of(sample);
  const double each = beta / (2 * sample.questions);
  const double sensitivity = divide_up(root_up(sample.questions), sample.rows);
  const double least =
      std::max(std::sqrt(48 * std::log(4 / each) / sample.rows), 4 * std::log(8 / each) / 690);
  if (least >= 1) return {.width = kInfinity};
  const auto delta_of = [&](double tau) {
    return std::exp(-4 * std::log(8 / each) / tau) * (1 - 1e-9);
  };
  const auto rough = [&](double tau) {
    return tau + rough_sigma(sensitivity, tau / 4, delta_of(tau)) * rough_quantile(each);
  };
  const auto at = [&](double tau) -> Width {
    const double delta = delta_of(tau);
    const double sigma =
        mechanism::analytic_gaussian_sigma(sensitivity, Epsilon(tau / 4), Delta(delta));
    const double accuracy = multiply_up(sigma, certified_quantile(each));
    return {add_up(tau, accuracy), sigma, tau / 4, delta, 0, beta / 2};
  };
  const Minimum best = minimise(rough, least * (1 + 1e-9), 1, 24);
  return at(best.at);
}

}  // namespace shoal::adaptive
