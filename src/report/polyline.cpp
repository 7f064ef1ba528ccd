#include "report/polyline.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>

namespace shoal::report {
namespace {

constexpr double kTolerance = 0.1;
constexpr double kColumn = 0.25;
// The search for the farthest point is quadratic at worst; pieces keep that bounded.
constexpr std::size_t kPiece = 512;

double distance_to_segment(Pixel p, Pixel a, Pixel b) {
  const double dx = b.x - a.x;
  const double dy = b.y - a.y;
  const double length_squared = dx * dx + dy * dy;
  const double along =
      length_squared > 0
          ? std::clamp(((p.x - a.x) * dx + (p.y - a.y) * dy) / length_squared, 0.0, 1.0)
          : 0.0;
  return std::hypot(p.x - (a.x + along * dx), p.y - (a.y + along * dy));
}

// Douglas and Peucker on line[first..last]: marks what must stay.
void mark_needed(const Polyline& line, std::size_t first, std::size_t last,
                 std::vector<bool>& needed) {
  std::vector<std::pair<std::size_t, std::size_t>> open = {{first, last}};
  while (!open.empty()) {
    const auto [from, to] = open.back();
    open.pop_back();
    needed[from] = needed[to] = true;
    double farthest = kTolerance;
    std::size_t split = from;
    for (std::size_t i = from + 1; i < to; ++i) {
      const double distance = distance_to_segment(line[i], line[from], line[to]);
      if (distance > farthest) {
        farthest = distance;
        split = i;
      }
    }
    if (split == from) continue;
    open.emplace_back(from, split);
    open.emplace_back(split, to);
  }
}

// Points in a row within one narrow column: what they draw is an upright from the highest to the
// lowest.
Polyline gather_columns(const Polyline& line) {
  Polyline gathered;
  for (std::size_t begin = 0; begin < line.size();) {
    const double column = std::floor(line[begin].x / kColumn);
    std::size_t end = begin + 1;
    std::size_t high = begin;
    std::size_t low = begin;
    while (end < line.size() && std::floor(line[end].x / kColumn) == column) {
      if (line[end].y < line[high].y) high = end;
      if (line[end].y > line[low].y) low = end;
      ++end;
    }
    std::array<std::size_t, 4> kept = {begin, high, low, end - 1};
    std::sort(kept.begin(), kept.end());
    const auto stop = std::unique(kept.begin(), kept.end());
    for (auto i = kept.begin(); i != stop; ++i) gathered.push_back(line[*i]);
    begin = end;
  }
  return gathered;
}

struct Piece {
  Pixel from;
  Pixel to;
};

// Liang and Barsky: the part of a segment that is in the box.
std::optional<Piece> clip_segment(Pixel a, Pixel b, const Box& box) {
  const double dx = b.x - a.x;
  const double dy = b.y - a.y;
  double enter = 0;
  double leave = 1;
  for (const auto& [slope, room] :
       {std::pair{-dx, a.x - box.left}, std::pair{dx, box.right - a.x},
        std::pair{-dy, a.y - box.top}, std::pair{dy, box.bottom - a.y}}) {
    if (slope == 0 && room < 0) return std::nullopt;
    if (slope < 0) enter = std::max(enter, room / slope);
    if (slope > 0) leave = std::min(leave, room / slope);
  }
  if (enter > leave) return std::nullopt;
  const auto at = [&](double t) {
    // Rounding may leave the box by a hair.
    return Pixel{std::clamp(a.x + t * dx, box.left, box.right),
                 std::clamp(a.y + t * dy, box.top, box.bottom)};
  };
  return Piece{enter == 0 ? a : at(enter), leave == 1 ? b : at(leave)};
}

// One edge of Sutherland and Hodgman: keeps what is on the inner side, where `inside` >= 0.
template <typename Inside>
Polyline clip_edge(const Polyline& polygon, Inside inside) {
  Polyline kept;
  for (std::size_t i = 0; i < polygon.size(); ++i) {
    const Pixel a = polygon[i];
    const Pixel b = polygon[(i + 1) % polygon.size()];
    const double at_a = inside(a);
    const double at_b = inside(b);
    if (at_a >= 0) kept.push_back(a);
    if ((at_a >= 0) != (at_b >= 0)) {
      const double t = at_a / (at_a - at_b);
      kept.push_back({a.x + t * (b.x - a.x), a.y + t * (b.y - a.y)});
    }
  }
  return kept;
}

}  // namespace

Polyline thin(const Polyline& line) {
  const Polyline gathered = gather_columns(line);
  std::vector<bool> needed(gathered.size(), false);
  for (std::size_t first = 0; first < gathered.size(); first += kPiece) {
    mark_needed(gathered, first, std::min(first + kPiece, gathered.size() - 1), needed);
  }
  Polyline thinned;
  for (std::size_t i = 0; i < gathered.size(); ++i) {
    if (needed[i]) thinned.push_back(gathered[i]);
  }
  return thinned;
}

std::vector<Polyline> clip_line(const Polyline& line, const Box& box) {
  std::vector<Polyline> parts;
  if (line.size() == 1 && box.contains(line[0])) parts.push_back(line);
  bool joined = false;
  for (std::size_t i = 0; i + 1 < line.size(); ++i) {
    const std::optional<Piece> piece = clip_segment(line[i], line[i + 1], box);
    if (piece) {
      if (!joined) parts.push_back({piece->from});
      parts.back().push_back(piece->to);
    }
    joined = piece && box.contains(line[i + 1]);
  }
  return parts;
}

Polyline clip_area(const Polyline& polygon, const Box& box) {
  Polyline kept = clip_edge(polygon, [&](Pixel p) { return p.x - box.left; });
  kept = clip_edge(kept, [&](Pixel p) { return box.right - p.x; });
  kept = clip_edge(kept, [&](Pixel p) { return p.y - box.top; });
  kept = clip_edge(kept, [&](Pixel p) { return box.bottom - p.y; });
  for (Pixel& p : kept) {
    p = {std::clamp(p.x, box.left, box.right), std::clamp(p.y, box.top, box.bottom)};
  }
  return kept;
}

}  // namespace shoal::report
