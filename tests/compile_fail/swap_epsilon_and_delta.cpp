// Epsilon and delta cannot be swapped.
#include <shoal/privacy/filter.hpp>

shoal::privacy::Budget budget(shoal::Epsilon epsilon, shoal::Delta delta) {
#ifdef ALLOWED
  return {epsilon, delta};
#else
  return {delta, epsilon};
#endif
}
