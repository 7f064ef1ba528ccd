#include "engine/grouped_rows.hpp"

#include "engine/clustered_rows.hpp"
#include "engine/group_results.hpp"
#include "engine/partitioned_rows.hpp"

#include <shoal/base/error.hpp>

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <thread>
#include <utility>

namespace shoal::engine {
namespace {

// The policy's reader has checked the form: a number and one of these.
std::uint64_t bytes_of(const std::string& size) {
  static constexpr std::pair<const char*, double> kSizes[] = {
      {"MB", 1e6}, {"GB", 1e9}, {"TB", 1e12}, {"MiB", 0x1p20}, {"GiB", 0x1p30}, {"TiB", 0x1p40}};
  const std::size_t at = size.find_first_not_of("0123456789.");
  for (const auto& [name, factor] : kSizes) {
    if (at != std::string::npos && size.substr(at) == name)
      return static_cast<std::uint64_t>(std::min(std::stod(size) * factor, 0x1p62));
  }
  throw Error(ErrorCode::invalid_argument,
              fmt::format("{} is no size of memory; write one such as 4GB", size));
}

std::uint64_t physical_memory() {
  const long pages = ::sysconf(_SC_PHYS_PAGES);
  const long size = ::sysconf(_SC_PAGESIZE);
  SHOAL_CHECK(pages > 0 && size > 0);
  return static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(size);
}

GroupedSums sum_people(DuckdbConnection& connection, ChunkFeed& feed, const RowQuery& rows,
                       const GroupShape& shape, bool clustered, const Resources& resources,
                       const OwnerLog& log) {
  KeyColumns keys(shape,
                  {rows.storages.begin() + 1,
                   rows.storages.begin() + 1 + static_cast<std::ptrdiff_t>(shape.keys.size())});
  if (clustered) {
    try {
      ClusteredRows stream(shape, rows.fed_storages, keys);
      feed.run(connection, rows.fed, rows.from, keys,
               [&](duckdb_data_chunk chunk) { stream.take(chunk); });
      GroupedSums sums(shape);
      stream.add_to(sums);
      return sums;
    } catch (const NotClustered&) {
      log.write("rows are not ordered by person",
                "the policy says that they are; questions take longer, and answers are right");
    }
  }
  PartitionedRows parts(shape, rows.fed_storages, keys, resources.memory);
  feed.run(connection, rows.fed, rows.from, keys,
           [&](duckdb_data_chunk chunk) { parts.take(chunk); });
  GroupedSums sums(shape);
  parts.add_to(sums, resources.threads);
  return sums;
}

}  // namespace

Resources resources_of(const catalog::EngineSettings& settings) {
  Resources resources;
  resources.threads = settings.threads > 0 ? static_cast<unsigned>(settings.threads)
                                           : std::max(1u, std::thread::hardware_concurrency());
  resources.memory = settings.memory.empty() ? physical_memory() / 2 : bytes_of(settings.memory);
  return resources;
}

std::vector<data::GroupedAggregate> aggregate_grouped_rows(DuckdbConnection& connection,
                                                           ChunkFeed& feed, const std::string& rows,
                                                           const GroupedRequest& request,
                                                           const Resources& resources,
                                                           const OwnerLog& log) {
  const GroupShape shape(request);
  const RowQuery query(connection, rows, request);
  std::vector<std::vector<data::ExactGroup>> found;
  if (request.has_unit) {
    GroupedSums sums =
        sum_people(connection, feed, query, shape, request.clustered, resources, log);
    for (std::size_t set = 0; set < request.sets.size(); ++set) {
      found.push_back(sums.tables[set].groups(sums.keys[set].keys(),
                                              types_of(request.keys, request.sets[set])));
    }
  } else {
    found = group_single_rows(connection, query, request);
  }
  std::vector<data::GroupedAggregate> results;
  for (std::size_t set = 0; set < request.sets.size(); ++set) {
    results.push_back(finish_groups(shape, request.sets[set], std::move(found[set])));
  }
  return results;
}

}  // namespace shoal::engine
