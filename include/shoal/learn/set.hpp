// Closed convex sets that weights may be confined to. A set is data and public: it never depends on
// private rows.
//
// `project` is the nearest point in Euclidean norm, up to rounding: no guarantee rests on it, since
// it is applied to what is already private, or inside a solver whose result is certified by other
// means.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace shoal::learn {

struct WholeSpace {
  bool operator==(const WholeSpace&) const = default;
};

// |w|_2 <= radius.
struct L2Ball {
  double radius = 0;
  bool operator==(const L2Ball&) const = default;
};

// |w|_1 <= radius.
struct L1Ball {
  double radius = 0;
  bool operator==(const L1Ball&) const = default;
};

// lower <= w_j <= upper for every coordinate.
struct Box {
  double lower = 0;
  double upper = 0;
  bool operator==(const Box&) const = default;
};

// w_j >= 0 and their sum is `total`.
struct Simplex {
  double total = 1;
  bool operator==(const Simplex&) const = default;
};

struct HalfSpaceCut;

using ConvexSet = std::variant<WholeSpace, L2Ball, L1Ball, Box, Simplex, HalfSpaceCut>;

// The points w of `base` with <normal, w> <= offset.
struct HalfSpaceCut {
  std::shared_ptr<const ConvexSet> base;
  std::vector<double> normal;
  double offset = 0;
  bool operator==(const HalfSpaceCut& other) const;
};

HalfSpaceCut cut(ConvexSet base, std::vector<double> normal, double offset);

// Throws invalid_argument for a radius or total that is not positive and finite, bounds out of
// order, a normal of another dimension or zero, and a cut that leaves nothing of the base.
void validate(const ConvexSet& set, std::size_t dimension);

std::vector<double> project(const ConvexSet& set, std::span<const double> point);

// Whether the point violates no condition of the set by more than `tolerance`.
bool contains(const ConvexSet& set, std::span<const double> point, double tolerance = 0);

// An upper bound of the largest distance between two points, rounded up; that of a cut is its
// base's. Infinite for the whole space.
double diameter(const ConvexSet& set, std::size_t dimension);

// An upper bound of the largest norm of a point, rounded up.
double radius(const ConvexSet& set, std::size_t dimension);

// "whole_space", "l2_ball", "l1_ball", "box", "simplex", "half_space_cut".
std::string_view name(const ConvexSet& set);

}  // namespace shoal::learn
