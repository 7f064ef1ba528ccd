// Random rows for requests as in grouped_reference.hpp: few units and keys, so that they meet;
// NULLs, NaN and infinities among the values.
#pragma once

#include "unit/engine/grouped_reference.hpp"

#include <rapidcheck.h>

#include <limits>

namespace shoal::engine::reference {

inline rc::Gen<Row> any_row() {
  using std::optional;
  const auto maybe = [](auto gen) {
    using Value = typename decltype(gen)::ValueType;
    return rc::gen::weightedOneOf<optional<Value>>(
        {{7, rc::gen::map(gen, [](Value value) { return optional<Value>(value); })},
         {1, rc::gen::just(optional<Value>())}});
  };
  const double inf = std::numeric_limits<double>::infinity();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  return rc::gen::build<Row>(
      rc::gen::set(&Row::unit, maybe(rc::gen::inRange<std::int64_t>(0, 6))),
      rc::gen::set(&Row::k0, maybe(rc::gen::inRange<std::int64_t>(-2, 4))),
      rc::gen::set(&Row::k1, maybe(rc::gen::element<std::string>(
                                 "", "a", "b", "a text of more than twelve letters", "NULL"))),
      rc::gen::set(&Row::k2, maybe(rc::gen::element<double>(0.0, -0.0, 1.5, 0.1, nan, inf))),
      rc::gen::set(&Row::v0, maybe(rc::gen::element<double>(0.0, 0.125, -0.125, 0.375, 2.6, 9.99,
                                                            -4.0, 1e300, inf, -inf, nan))),
      rc::gen::set(&Row::v1, maybe(rc::gen::inRange<std::int64_t>(-6, 30))),
      rc::gen::set(&Row::v2, maybe(rc::gen::element<std::string>("x", "y", "z", "",
                                                                 "long enough "
                                                                 "to be out"))));
}

}  // namespace shoal::engine::reference
