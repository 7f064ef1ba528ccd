#include <shoal/base/digest.hpp>
#include <shoal/base/error.hpp>
#include <shoal/base/file.hpp>
#include <shoal/base/locked_file.hpp>
#include <shoal/catalog/budget_marker.hpp>
#include <shoal/catalog/witness.hpp>

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <string_view>
#include <system_error>
#include <utility>

namespace shoal::catalog {
namespace {

constexpr std::string_view kOpening = "shoal-witness 1 ";
constexpr std::size_t kHexDigits = 64;

std::string digest_of(std::string_view text) { return to_hex(sha256(text)); }

std::string slot_text(const std::string& lineage, const WitnessedEntry& entry) {
  std::string line =
      fmt::format("{}{} {} {} ", kOpening, digest_of(lineage), entry.number, entry.hash);
  line += digest_of(line);
  SHOAL_CHECK(line.size() < 512);
  line.resize(511, ' ');
  return line + '\n';
}

// None if it is damaged, or another lineage's.
std::optional<WitnessedEntry> parse_slot(std::string_view slot, const std::string& lineage) {
  const std::string opening = fmt::format("{}{} ", kOpening, digest_of(lineage));
  if (!slot.starts_with(opening)) return std::nullopt;
  const std::string_view rest = slot.substr(opening.size());
  WitnessedEntry entry;
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), entry.number);
  if (error != std::errc()) return std::nullopt;
  const std::size_t hash = static_cast<std::size_t>(end - slot.data()) + 1;
  const std::size_t check = hash + kHexDigits + 1;
  if (slot.size() < check + kHexDigits) return std::nullopt;
  entry.hash = slot.substr(hash, kHexDigits);
  if (slot.substr(check, kHexDigits) != digest_of(slot.substr(0, check))) return std::nullopt;
  return entry;
}

struct Slots {
  std::array<std::optional<WitnessedEntry>, 2> entries;
  bool any() const { return entries[0] || entries[1]; }
  // The slot with the later entry.
  std::size_t later() const {
    if (!entries[0] || !entries[1]) return entries[0] ? 0 : 1;
    return entries[1]->number > entries[0]->number ? 1 : 0;
  }
};

Slots parse(const std::string& text, const std::string& lineage) {
  Slots slots;
  for (std::size_t i = 0; i < slots.entries.size(); ++i) {
    const std::size_t start = i * Witness::kSlotBytes;
    if (start < text.size())
      slots.entries[i] = parse_slot(std::string_view(text).substr(start), lineage);
  }
  return slots;
}

// Nobody writes it meanwhile.
Slots locked_slots(const LockedFile& locked, const std::string& lineage,
                   const std::filesystem::path& file) {
  const Slots slots = parse(locked.read(), lineage);
  if (slots.any()) return slots;
  throw Error(ErrorCode::corrupt,
              fmt::format("{} is damaged, or the witness of another budget than {}; nothing is "
                          "spent or answered until the owner restores it from a backup, or, if "
                          "there is none, runs shoal reopen --new-witness",
                          file.string(), lineage));
}

}  // namespace

Witness::Witness(std::filesystem::path file, std::string lineage)
    : file_(std::move(file)), lineage_(std::move(lineage)) {}

std::optional<WitnessedEntry> Witness::read() const {
  std::string text;
  try {
    text = read_file(file_);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::not_found) throw;
    return std::nullopt;
  }
  Slots slots = parse(text, lineage_);
  // Two slots that others wrote while they were read are no damage yet.
  if (!slots.any()) slots = locked_slots(LockedFile(file_, LockedFile::Make::no), lineage_, file_);
  return slots.entries[slots.later()];
}

bool Witness::is_damaged() const {
  try {
    read();
    return false;
  } catch (const Error& error) {
    if (error.code() != ErrorCode::corrupt) throw;
    return true;
  }
}

void Witness::require_writable() const {
  std::error_code ignored;
  const bool there = std::filesystem::exists(file_, ignored);
  const std::filesystem::path folder = file_.has_parent_path() ? file_.parent_path() : ".";
  if (::access((there ? file_ : folder).c_str(), W_OK) == 0) return;
  throw Error(ErrorCode::io,
              fmt::format("the witness {} cannot be written: {}; it must know of an answer before "
                          "the answer leaves, so make it writable",
                          file_.string(), std::generic_category().message(errno)));
}

void Witness::keep(const WitnessedEntry& entry) const {
  SHOAL_CHECK(entry.hash.size() == kHexDigits);
  const std::string slot = slot_text(lineage_, entry);
  std::error_code ignored;
  if (!std::filesystem::exists(file_, ignored)) {
    std::string text = slot;
    text.resize(kSlotBytes, '\n');
    try {
      return write_file_durably(file_, text + slot, IfExists::refuse, Readers::owner);
    } catch (const Error& error) {
      if (error.code() != ErrorCode::conflict) throw;  // another process was first
    }
  }
  LockedFile file(file_, LockedFile::Make::no);
  const Slots slots = locked_slots(file, lineage_, file_);
  const std::size_t later = slots.later();
  if (slots.entries[later]->number >= entry.number) return;
  file.write((1 - later) * kSlotBytes, slot);
}

std::filesystem::path witness_path(const std::filesystem::path& data, const std::string& lineage) {
  return marker_path(data).string() + ".witness-" + digest_of(lineage).substr(0, 12);
}

WitnessedEntry existing_witness(const std::filesystem::path& data, const std::string& lineage) {
  const Witness witness(witness_path(data, lineage), lineage);
  if (const std::optional<WitnessedEntry> entry = witness.read()) return *entry;
  throw Error(ErrorCode::corrupt,
              fmt::format("{} is gone, which says how far the ledger of {} was; copy it along with "
                          "the data and the marker, or restore it. If it is lost for good and the "
                          "ledger is the newest: shoal reopen --new-witness",
                          witness.file().string(), lineage));
}

}  // namespace shoal::catalog
