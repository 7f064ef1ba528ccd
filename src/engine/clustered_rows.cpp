#include "engine/clustered_rows.hpp"

#include <algorithm>
#include <iterator>
#include <optional>

namespace shoal::engine {
namespace {

// The units of one chunk, as a range of names.
struct Reach {
  UnitName first;
  UnitName last;
  auto operator<=>(const Reach&) const = default;
};

struct NamedPart {
  UnitName name;
  UnitPart part;
  std::size_t lane = 0;
};

std::vector<const GroupKeys*> pointers(const std::vector<GroupKeys>& keys) {
  std::vector<const GroupKeys*> all;
  for (const GroupKeys& one : keys) all.push_back(&one);
  return all;
}

std::uint64_t unit_hash(const HashKey& key, const UnitName& name, bool text) {
  return text ? hash_text(key, name.text) : hash_word(key, static_cast<std::uint64_t>(name.number));
}

}  // namespace

GroupedSums::GroupedSums(const GroupShape& shape) {
  for (std::size_t set = 0; set < shape.sets.size(); ++set) {
    keys.emplace_back(shape.hash_key, set);
    tables.emplace_back(shape);
  }
}

std::vector<const GroupKeys*> GroupedSums::key_lists() const {
  std::vector<const GroupKeys*> all;
  for (const KeyIndex& index : keys) all.push_back(&index.keys());
  return all;
}

// One thread's work.
struct ClusteredRows::Lane {
  Lane(const GroupShape& request, KeyColumns& columns)
      : shape(request),
        reader(request, columns),
        tables(request.sets.size(), GroupTable(request)),
        bounder(request, pointers(reader.keys()), tables) {}

  const GroupShape& shape;
  ChunkReader reader;
  std::vector<GroupTable> tables;
  UnitBounder bounder;
  std::optional<UnitName> open;  // the last unit so far, whose rows may go on
  std::vector<NamedPart> parts;
  std::vector<Reach> reaches;
  UnitRuns runs;                      // of the chunk at hand
  std::vector<std::uint64_t> hashes;  // of its units

  void close() {
    if (open) parts.push_back({*std::exchange(open, std::nullopt), bounder.take()});
  }

  // The units of a block, which `runs` has. A unit in the middle is there as a whole.
  template <typename Name>
  void pass(const RowBlock& block, const Name& name) {
    const UnitName first = name(0);
    if (!runs.ordered || (open && first < *open)) throw NotClustered();
    if (open && *open != first) close();
    if (!open) bounder.begin(hashes[0]);
    bounder.add(block, 0, runs.ends[0]);
    open = first;
    Reach reach{first, first};
    if (runs.size > 1) {
      close();
      const std::size_t whole = runs.size - 2;
      bounder.add_units(block, {runs.ends[0], std::span(runs.ends).subspan(1, whole),
                                std::span(hashes).subspan(1, whole)});
      const std::size_t last = runs.ends[runs.size - 2];
      bounder.begin(hashes[runs.size - 1]);
      bounder.add(block, last, block.size);
      open = name(last);
      reach.last = *open;
    }
    // A unit that fills many chunks is noted once.
    if (reaches.empty() || reaches.back() != reach) reaches.push_back(std::move(reach));
  }

  void pass_integers(const RowBlock& block) {
    find_runs(std::span(block.units, block.size), runs);
    hashes.resize(runs.size);
    for (std::size_t i = 0; i < runs.size; ++i)
      hashes[i] = static_cast<std::uint64_t>(block.units[runs.ends[i] - 1]);
    hash_words(shape.hash_key, hashes, hashes.data());
    pass(block, [&](std::size_t row) { return UnitName{block.units[row], {}}; });
  }

  void pass_texts(const RowBlock& block) {
    find_runs(std::span<const std::string_view>(block.unit_texts), runs);
    hashes.resize(runs.size);
    for (std::size_t i = 0; i < runs.size; ++i)
      hashes[i] = hash_text(shape.hash_key, block.unit_texts[runs.ends[i] - 1]);
    pass(block, [&](std::size_t row) { return UnitName{0, std::string(block.unit_texts[row])}; });
  }
};

ClusteredRows::ClusteredRows(const GroupShape& shape, const std::vector<Storage>& storages,
                             KeyColumns& keys)
    : shape_(shape),
      storages_(storages),
      lanes_([&shape, &keys] { return std::make_unique<Lane>(shape, keys); }) {}

ClusteredRows::~ClusteredRows() = default;

void ClusteredRows::take(duckdb_data_chunk chunk) {
  const Chunk rows(chunk, storages_);
  if (rows.rows == 0) return;
  Lane& lane = lanes_.mine();
  const RowBlock& block = lane.reader.read(rows);
  storages_[0] == Storage::text ? lane.pass_texts(block) : lane.pass_integers(block);
}

void ClusteredRows::add_to(GroupedSums& sums) {
  std::vector<Reach> reaches;
  std::vector<NamedPart> parts;
  std::vector<std::vector<std::vector<GroupNumber>>> numbers;  // by lane, by set, by group
  for (std::size_t i = 0; i < lanes_.all().size(); ++i) {
    Lane& lane = *lanes_.all()[i];
    lane.close();
    for (NamedPart& part : lane.parts) part.lane = i;
    std::move(lane.parts.begin(), lane.parts.end(), std::back_inserter(parts));
    std::move(lane.reaches.begin(), lane.reaches.end(), std::back_inserter(reaches));
  }
  // Sorted, each may begin where those before it end, and no earlier.
  std::sort(reaches.begin(), reaches.end());
  const UnitName* furthest = nullptr;
  for (const Reach& reach : reaches) {
    if (furthest && reach.first < *furthest) throw NotClustered();
    if (!furthest || *furthest < reach.last) furthest = &reach.last;
  }
  for (Lane* lane : lanes_.all()) {
    auto& of_lane = numbers.emplace_back();
    for (std::size_t set = 0; set < shape_.sets.size(); ++set) {
      of_lane.push_back(sums.keys[set].absorb(lane->reader.keys()[set]));
      sums.tables[set].add(lane->tables[set], of_lane.back());
    }
  }
  std::sort(parts.begin(), parts.end(),
            [](const NamedPart& a, const NamedPart& b) { return a.name < b.name; });
  UnitBounder bounder(shape_, sums.key_lists(), sums.tables);
  const bool text = storages_[0] == Storage::text;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i == 0 || parts[i].name != parts[i - 1].name)
      bounder.begin(unit_hash(shape_.hash_key, parts[i].name, text));
    bounder.add(parts[i].part, numbers[parts[i].lane]);
    if (i + 1 == parts.size() || parts[i + 1].name != parts[i].name) bounder.finish();
  }
}

}  // namespace shoal::engine
