#include "synth/kept_tables.hpp"

namespace shoal::synth {

KeptTables::Table KeptTables::find(const Key& key) {
  const auto place = places_.find(key);
  if (place == places_.end()) return nullptr;
  by_use_.splice(by_use_.begin(), by_use_, place->second);
  return place->second->second;
}

KeptTables::Table KeptTables::keep(const Key& key, ColumnTable table) {
  const std::size_t cells = table.cells.size();
  Table kept = std::make_shared<const ColumnTable>(std::move(table));
  if (cells > max_cells_) return kept;
  while (cells > max_cells_ - cells_) {
    const Entry& oldest = by_use_.back();
    cells_ -= oldest.second->cells.size();
    places_.erase(oldest.first);
    by_use_.pop_back();
  }
  by_use_.emplace_front(key, kept);
  places_.emplace(key, by_use_.begin());
  cells_ += cells;
  return kept;
}

}  // namespace shoal::synth
