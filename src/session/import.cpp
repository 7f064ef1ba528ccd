#include "session/account_ledger.hpp"
#include "session/paths.hpp"
#include "session/settled_data.hpp"

#include <shoal/base/error.hpp>
#include <shoal/base/file.hpp>
#include <shoal/base/text.hpp>
#include <shoal/catalog/budget_marker.hpp>
#include <shoal/catalog/policy.hpp>
#include <shoal/catalog/redirect.hpp>
#include <shoal/session/import.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <functional>

namespace shoal::session {
namespace {

namespace fs = std::filesystem;

bool is_file_of(const catalog::Policy& policy, const catalog::Table& table, const fs::path& data) {
  if (table.format == catalog::SourceFormat::postgresql) return false;
  const fs::path source = policy.resolve(table.source);
  std::error_code ignored;
  return normal_path(source) == normal_path(data) || fs::equivalent(source, data, ignored);
}

const catalog::Table& table_of(const catalog::Policy& policy, const ImportRequest& request) {
  std::vector<std::string> names;
  for (const catalog::Table& one : policy.tables) names.push_back(one.name);
  std::vector<const catalog::Table*> found;
  for (const catalog::Table& one : policy.tables) {
    if (request.data.empty() || is_file_of(policy, one, request.data)) found.push_back(&one);
  }
  if (found.empty()) {
    throw Error(ErrorCode::not_found, fmt::format("no table of the policy reads {}; it has {}",
                                                  request.data.string(), join_names(names)));
  }
  if (request.table.empty()) {
    if (found.size() == 1) return *found.front();
    throw Error(
        ErrorCode::not_found,
        fmt::format("the policy has several tables; name one with --table: {}", join_names(names)));
  }
  const catalog::Table* named = policy.find_table(request.table, false);
  if (named == nullptr) {
    throw Error(ErrorCode::not_found, fmt::format("the policy has no table {}; it has {}",
                                                  printable(request.table, 60), join_names(names)));
  }
  if (std::find(found.begin(), found.end(), named) == found.end()) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("table {} reads {}, not {}; leave out one of the two", named->name,
                            named->source.string(), request.data.string()));
  }
  return *named;
}

fs::path name_beside(fs::path data) {
  const bool parquet = data.extension() == ".parquet";
  const fs::path name = data.stem().string() + (parquet ? "_ordered.parquet" : ".parquet");
  return data.replace_filename(name);
}

// The policy's text with the new source, if that is all that changes.
std::string redirected(const fs::path& policy_path, const catalog::Policy& policy,
                       const catalog::Table& table, const ImportResult& result) {
  std::string text =
      catalog::redirect_table(read_file(policy_path), table.name, result.source, result.clustered);
  const catalog::Policy changed = catalog::parse_policy(text, policy.folder);
  const catalog::Table* there = changed.find_table(table.name, false);
  SHOAL_CHECK(there != nullptr && there->source == result.source &&
              there->format == catalog::SourceFormat::parquet &&
              there->clustered == result.clustered && changed.lineage == policy.lineage);
  return text;
}

// A policy that names the copy can be asked at once.
void settle_copy(catalog::Policy policy, const catalog::Table& table, const ImportResult& result) {
  for (catalog::Table& one : policy.tables) {
    if (one.name != table.name) continue;
    one.source = result.source;
    one.format = catalog::SourceFormat::parquet;
    engine::settle_rows(policy, one, mark_copies(policy));
  }
}

}  // namespace

ImportResult import_table(const ImportRequest& request, const engine::Progress& progress) {
  const catalog::Policy policy = catalog::load_policy(request.policy);
  const catalog::Table& table = table_of(policy, request);
  if (table.format == catalog::SourceFormat::postgresql) {
    throw Error(ErrorCode::unsupported,
                fmt::format("table {} is on a PostgreSQL server; import reads files alone: ask the "
                            "server's table as it is",
                            table.name));
  }
  const fs::path data = policy.resolve(table.source);
  ImportResult result;
  result.output =
      request.output.empty() ? as_seen_from(fs::current_path(), name_beside(data)) : request.output;
  result.source = as_seen_from(policy.folder, result.output).string();
  result.clustered = !table.is_public && !table.person_column.empty();
  // Whether the policy can be changed is seen before anything is written.
  const std::string text =
      request.update_policy ? redirected(request.policy, policy, table, result) : "";
  engine::Naming naming;
  // A public file has no budget, and importing it must not give it one.
  if (!table.is_public) {
    catalog::claim_budget(
        data, {policy.lineage, policy.ledger_place(), false, false, terms_of(policy).terms});
    // The copy is the same data: it belongs to the same budget before it can be found.
    naming = [&](const std::function<void()>& give_name) {
      catalog::name_copy(data, result.output, give_name);
    };
  }
  result.report = engine::import_rows(policy, table, result.output, progress, naming);
  settle_copy(policy, table, result);
  if (request.update_policy) write_file_durably(request.policy, text, IfExists::replace);
  return result;
}

std::vector<SettledTable> settle_data(const fs::path& policy_path,
                                      const engine::TableProgress& progress) {
  const catalog::Policy policy = catalog::load_policy(policy_path);
  std::vector<SettledTable> settled;
  for (const catalog::Table& table : policy.tables) {
    if (table.format == catalog::SourceFormat::postgresql) continue;
    settled.push_back(
        {table.name, engine::settle_rows(policy, table, mark_copies(policy), [&](double share) {
           if (progress) progress(table.name, share);
         })});
  }
  return settled;
}

}  // namespace shoal::session
