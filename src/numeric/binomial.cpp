#include <shoal/base/error.hpp>
#include <shoal/numeric/binomial.hpp>

#include <boost/math/special_functions/beta.hpp>
#include <boost/math/special_functions/gamma.hpp>
#include <fmt/format.h>

namespace shoal::numeric {
namespace {

void check(std::int64_t successes, std::int64_t trials, double alpha) {
  if (trials <= 0 || successes < 0 || successes > trials) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("{} successes of {} trials; give 0 to all of at least 1 trial",
                            successes, trials));
  }
  if (!(alpha > 0 && alpha < 1)) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("the chance to miss is {}; it must be above 0 and below 1", alpha));
  }
}

}  // namespace

double chance_lower_bound(std::int64_t successes, std::int64_t trials, double alpha) {
  check(successes, trials, alpha);
  if (successes == 0) return 0;
  return boost::math::ibeta_inv(static_cast<double>(successes),
                                static_cast<double>(trials - successes + 1), alpha);
}

double chance_upper_bound(std::int64_t successes, std::int64_t trials, double alpha) {
  check(successes, trials, alpha);
  if (successes == trials) return 1;
  return boost::math::ibetac_inv(static_cast<double>(successes + 1),
                                 static_cast<double>(trials - successes), alpha);
}

double chi_square_tail(double statistic, int degrees) {
  if (degrees <= 0 || !(statistic >= 0)) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("chi-square of {} with {} degrees of freedom; give at least 0 and 1",
                            statistic, degrees));
  }
  return boost::math::gamma_q(0.5 * degrees, 0.5 * statistic);
}

}  // namespace shoal::numeric
