// Changes every field of a struct, one at a time, however deep it lies, and tells a check each
// time. How many fields a struct has is stated by whoever flips it (field_count): with another
// number it does not compile, so that a field that is added later is not forgotten.
#pragma once

#include <shoal/data/attribute_set.hpp>
#include <shoal/privacy/event.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

namespace shoal::test {

// Specialised for each struct that is flipped.
template <typename Struct>
inline constexpr int field_count = 0;

template <typename Struct, typename Visit>
void for_each_field(Struct& value, const Visit& visit) {
  constexpr int count = field_count<Struct>;
  if constexpr (count == 1) {
    auto& [a] = value;
    (visit(a));
  } else if constexpr (count == 2) {
    auto& [a, b] = value;
    (visit(a), visit(b));
  } else if constexpr (count == 3) {
    auto& [a, b, c] = value;
    (visit(a), visit(b), visit(c));
  } else if constexpr (count == 4) {
    auto& [a, b, c, d] = value;
    (visit(a), visit(b), visit(c), visit(d));
  } else if constexpr (count == 5) {
    auto& [a, b, c, d, e] = value;
    (visit(a), visit(b), visit(c), visit(d), visit(e));
  } else if constexpr (count == 6) {
    auto& [a, b, c, d, e, f] = value;
    (visit(a), visit(b), visit(c), visit(d), visit(e), visit(f));
  } else if constexpr (count == 7) {
    auto& [a, b, c, d, e, f, g] = value;
    (visit(a), visit(b), visit(c), visit(d), visit(e), visit(f), visit(g));
  } else if constexpr (count == 8) {
    auto& [a, b, c, d, e, f, g, h] = value;
    (visit(a), visit(b), visit(c), visit(d), visit(e), visit(f), visit(g), visit(h));
  } else if constexpr (count == 9) {
    auto& [a, b, c, d, e, f, g, h, i] = value;
    (visit(a), visit(b), visit(c), visit(d), visit(e), visit(f), visit(g), visit(h), visit(i));
  } else if constexpr (count == 10) {
    auto& [a, b, c, d, e, f, g, h, i, j] = value;
    (visit(a), visit(b), visit(c), visit(d), visit(e), visit(f), visit(g), visit(h), visit(i),
     visit(j));
  } else if constexpr (count == 11) {
    auto& [a, b, c, d, e, f, g, h, i, j, k] = value;
    (visit(a), visit(b), visit(c), visit(d), visit(e), visit(f), visit(g), visit(h), visit(i),
     visit(j), visit(k));
  } else if constexpr (count == 14) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n] = value;
    (visit(a), visit(b), visit(c), visit(d), visit(e), visit(f), visit(g), visit(h), visit(i),
     visit(j), visit(k), visit(l), visit(m), visit(n));
  } else if constexpr (count == 15) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o] = value;
    (visit(a), visit(b), visit(c), visit(d), visit(e), visit(f), visit(g), visit(h), visit(i),
     visit(j), visit(k), visit(l), visit(m), visit(n), visit(o));
  } else {
    static_assert(count < 0, "state the field_count of this struct");
  }
}

using Flipped = std::function<void()>;

template <typename Field>
void flip_fields(Field& field, const Flipped& flipped);

namespace detail {

template <typename Field>
void try_as(Field& field, Field other, const Flipped& flipped) {
  std::swap(field, other);
  flipped();
  std::swap(field, other);
}

template <typename Field>
struct Flip {
  static void each(Field& field, const Flipped& flipped) {
    if constexpr (std::is_same_v<Field, bool>) {
      try_as(field, !field, flipped);
    } else if constexpr (std::is_arithmetic_v<Field>) {
      try_as(field, static_cast<Field>(field + 1), flipped);
    } else if constexpr (std::is_enum_v<Field>) {
      try_as(field, static_cast<Field>(static_cast<int>(field) == 0 ? 1 : 0), flipped);
    } else if constexpr (!std::is_empty_v<Field>) {
      for_each_field(field, [&](auto& inner) { flip_fields(inner, flipped); });
    }
  }
};

template <>
struct Flip<std::string> {
  static void each(std::string& field, const Flipped& flipped) {
    try_as(field, field + "x", flipped);
  }
};

template <>
struct Flip<privacy::Event> {
  static void each(privacy::Event& field, const Flipped& flipped) {
    try_as(field, privacy::Event(privacy::event::Pure{0.123}), flipped);
  }
};

template <>
struct Flip<data::AttributeSet> {
  static void each(data::AttributeSet& field, const Flipped& flipped) {
    try_as(field,
           field == data::AttributeSet::single(0) ? data::AttributeSet::single(1)
                                                  : data::AttributeSet::single(0),
           flipped);
  }
};

template <typename Inner>
struct Flip<std::vector<Inner>> {
  static void each(std::vector<Inner>& field, const Flipped& flipped) {
    if (!field.empty()) {
      std::vector<Inner> longer = field;
      longer.push_back(field.back());
      try_as(field, std::move(longer), flipped);
    }
    for (Inner& one : field) flip_fields(one, flipped);
  }
};

template <typename Inner>
struct Flip<std::optional<Inner>> {
  static void each(std::optional<Inner>& field, const Flipped& flipped) {
    if (!field) return try_as(field, std::optional<Inner>(Inner{}), flipped);
    flip_fields(*field, flipped);
    try_as(field, std::optional<Inner>(), flipped);
  }
};

template <typename... Kinds>
struct Flip<std::variant<Kinds...>> {
  using Variant = std::variant<Kinds...>;
  static void each(Variant& field, const Flipped& flipped) {
    std::visit([&](auto& kind) { flip_fields(kind, flipped); }, field);
    using First = std::variant_alternative_t<0, Variant>;
    using Second = std::variant_alternative_t<1, Variant>;
    try_as(field, field.index() == 0 ? Variant(Second{}) : Variant(First{}), flipped);
  }
};

template <typename Inner>
struct Flip<std::shared_ptr<const Inner>> {
  static void each(std::shared_ptr<const Inner>& field, const Flipped& flipped) {
    Inner copy = *field;
    flip_fields(copy, [&] { try_as(field, std::make_shared<const Inner>(copy), flipped); });
  }
};

}  // namespace detail

// Each field of the struct is changed, `flipped` is called, and the field is what it was.
template <typename Field>
void flip_fields(Field& field, const Flipped& flipped) {
  detail::Flip<Field>::each(field, flipped);
}

}  // namespace shoal::test
