// Reads the SVG that charts are made of, and nothing else: a strict check that the XML is
// well-formed, and the places that each element draws at.
#pragma once

#include "report/polyline.hpp"
#include "report/text.hpp"

#include <algorithm>
#include <cctype>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace shoal::test {

struct Element {
  std::string name;
  std::map<std::string, std::string> attributes;
  std::string text;  // with that of the elements inside
  std::string superscript;

  double number(const std::string& key) const { return std::stod(attributes.at(key)); }
  std::string get(const std::string& key) const {
    const auto found = attributes.find(key);
    return found == attributes.end() ? "" : found->second;
  }
};

class SvgReader {
 public:
  explicit SvgReader(std::string_view svg) : rest_(svg) {
    read_element(nullptr);
    skip_space();
    if (!rest_.empty()) fail("text after the root");
  }
  const std::vector<Element>& elements() const { return elements_; }
  std::vector<Element> named(std::string_view name) const {
    std::vector<Element> found;
    for (const Element& element : elements_) {
      if (element.name == name) found.push_back(element);
    }
    return found;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw std::runtime_error(what + " before '" + std::string(rest_.substr(0, 40)) + "'");
  }
  void skip_space() {
    while (!rest_.empty() && std::isspace(static_cast<unsigned char>(rest_[0]))) {
      rest_.remove_prefix(1);
    }
  }
  void expect(std::string_view text) {
    if (!rest_.starts_with(text)) fail("expected '" + std::string(text) + "'");
    rest_.remove_prefix(text.size());
  }
  std::string read_name() {
    std::size_t length = 0;
    while (length < rest_.size() &&
           (std::isalnum(static_cast<unsigned char>(rest_[length])) || rest_[length] == '-')) {
      ++length;
    }
    if (length == 0) fail("no name");
    std::string name(rest_.substr(0, length));
    rest_.remove_prefix(length);
    return name;
  }
  // Up to `stop`, with the entities replaced.
  std::string read_text(char stop) {
    std::string text;
    while (!rest_.empty() && rest_[0] != stop) {
      if (rest_[0] == '<' || rest_[0] == '>') fail("a bare angle bracket");
      const auto byte = static_cast<unsigned char>(rest_[0]);
      if (byte < 0x20 && byte != '\n') fail("a control character");
      if (rest_[0] != '&') {
        text.push_back(rest_[0]);
        rest_.remove_prefix(1);
        continue;
      }
      const std::map<std::string_view, char> entities = {
          {"&amp;", '&'}, {"&lt;", '<'}, {"&gt;", '>'}, {"&quot;", '"'}};
      bool known = false;
      for (const auto& [entity, character] : entities) {
        if (!rest_.starts_with(entity)) continue;
        text.push_back(character);
        rest_.remove_prefix(entity.size());
        known = true;
        break;
      }
      if (!known) fail("a bare ampersand");
    }
    return text;
  }
  void read_element(Element* parent) {
    expect("<");
    Element element;
    element.name = read_name();
    const std::size_t index = elements_.size();
    elements_.push_back(element);
    for (skip_space(); !rest_.starts_with(">") && !rest_.starts_with("/>"); skip_space()) {
      const std::string key = read_name();
      expect("=\"");
      if (!element.attributes.emplace(key, read_text('"')).second) fail("twice " + key);
      expect("\"");
    }
    if (rest_.starts_with("/>")) {
      expect("/>");
    } else {
      expect(">");
      for (element.text += read_text('<'); !rest_.starts_with("</");
           element.text += read_text('<')) {
        if (rest_.empty()) fail("the end");
        read_element(&element);
      }
      expect("</" + element.name + ">");
    }
    if (parent != nullptr && element.name == "tspan") parent->superscript = element.text;
    elements_[index] = std::move(element);
  }

  std::string_view rest_;
  std::vector<Element> elements_;
};

// The corners of a path, one polyline for each M; A counts with its end point. Throws for any
// command but M, L, A and Z.
inline std::vector<report::Polyline> path_lines(const std::string& path) {
  std::vector<report::Polyline> lines;
  std::size_t at = 0;
  const auto number = [&] {
    std::size_t used = 0;
    const double value = std::stod(path.substr(at), &used);
    at += used;
    return value;
  };
  while (at < path.size()) {
    const char command = path[at++];
    if (command == 'Z') continue;
    if (command == 'M') lines.emplace_back();
    if (command == 'A') {
      for (int skipped = 0; skipped < 5; ++skipped) number();
    } else if (command != 'M' && command != 'L') {
      throw std::runtime_error("path command " + std::string(1, command));
    }
    const double x = number();
    lines.back().push_back({x, number()});
  }
  return lines;
}

// Every place an element draws at; of a text, the estimated corners.
inline report::Polyline places(const Element& element) {
  if (element.name == "line") {
    return {{element.number("x1"), element.number("y1")},
            {element.number("x2"), element.number("y2")}};
  }
  if (element.name == "rect") {
    const double x = element.number("x");
    const double y = element.number("y");
    return {{x, y}, {x + element.number("width"), y + element.number("height")}};
  }
  report::Polyline all;
  if (element.name == "path") {
    for (const report::Polyline& line : path_lines(element.attributes.at("d"))) {
      all.insert(all.end(), line.begin(), line.end());
    }
  }
  if (element.name == "text") {
    const double size = element.number("font-size");
    const double width = report::text_width(element.text, size) +
                         report::text_width(element.superscript, 0.75 * size);
    const std::string anchor = element.get("text-anchor");
    const double from = anchor == "start" ? 0 : anchor == "middle" ? -width / 2 : -width;
    for (const double along : {from, from + width}) {
      for (const double up : {-0.2 * size, 0.75 * size}) {
        const bool upright = !element.get("transform").empty();
        all.push_back({element.number("x") + (upright ? -up : along),
                       element.number("y") + (upright ? -along : -up)});
      }
    }
  }
  return all;
}

// Where a text stands.
inline report::Box box_of(const Element& text) {
  report::Box box{1e9, 1e9, -1e9, -1e9};
  for (const report::Pixel& p : places(text)) {
    box = {std::min(box.left, p.x), std::min(box.top, p.y), std::max(box.right, p.x),
           std::max(box.bottom, p.y)};
  }
  return box;
}

inline bool overlap(const report::Box& a, const report::Box& b) {
  return a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
}

// Two texts that cover each other; empty if none do.
inline std::string first_overlap(const std::string& text) {
  const std::vector<Element> texts = SvgReader(text).named("text");
  for (std::size_t i = 0; i < texts.size(); ++i) {
    for (std::size_t k = 0; k < i; ++k) {
      if (overlap(box_of(texts[i]), box_of(texts[k])))
        return texts[k].text + " and " + texts[i].text;
    }
  }
  return "";
}

}  // namespace shoal::test
