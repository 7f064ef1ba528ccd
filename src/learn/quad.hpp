// Floating point with a significand of 113 bits, for the few places where 64 bits may not do.
#pragma once

#include <boost/multiprecision/cpp_bin_float.hpp>

namespace shoal::learn {

using Quad = boost::multiprecision::cpp_bin_float_quad;

}  // namespace shoal::learn
