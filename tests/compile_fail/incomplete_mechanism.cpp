// A mechanism without accuracy or audit does not enter the registry.
#include <shoal/mechanism/registry.hpp>

struct Halfway {
  double scale = 1;
  bool operator==(const Halfway&) const = default;
};
void validate(const Halfway&);
shoal::Int128 sample(const Halfway&, shoal::random::BitSource&);

#ifdef ALLOWED
using Mechanisms = shoal::mechanism::Registry<shoal::mechanism::DiscreteLaplace>;
#else
using Mechanisms = shoal::mechanism::Registry<shoal::mechanism::DiscreteLaplace, Halfway>;
#endif
Mechanisms one;
