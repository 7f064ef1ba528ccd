// Lines and areas in pixels: fewer points where the eye sees no difference, and nothing outside the
// plot.
#pragma once

#include <vector>

namespace shoal::report {

struct Pixel {
  double x = 0;
  double y = 0;
};

// y grows downwards: top < bottom.
struct Box {
  double left = 0;
  double top = 0;
  double right = 0;
  double bottom = 0;
  bool contains(Pixel p) const {
    return p.x >= left && p.x <= right && p.y >= top && p.y <= bottom;
  }
};

using Polyline = std::vector<Pixel>;

// Leaves out what moves the line by less than a tenth of a pixel, or, among many points in one
// quarter of a pixel column, what lies between the first, last, highest and lowest of them.
Polyline thin(const Polyline& line);

// The parts of the line that are in the box, in order.
std::vector<Polyline> clip_line(const Polyline& line, const Box& box);

// The part of the polygon that is in the box; may touch its edges more than once.
Polyline clip_area(const Polyline& polygon, const Box& box);

}  // namespace shoal::report
