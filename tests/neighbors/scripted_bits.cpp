#include "neighbors/scripted_bits.hpp"

#include "support/seeded_source.hpp"

#include <shoal/random/secure_source.hpp>

#include <new>

namespace shoal::test::scripted_bits {
namespace {

struct Script {
  std::uint64_t seed = 1;
  std::uint64_t sources = 0;
  std::uint64_t draws = 0;
  std::optional<std::uint64_t> fail_at = std::nullopt;
};

Script script;

}  // namespace

void begin(std::uint64_t seed, std::optional<std::uint64_t> fail_at) {
  script = {seed, 0, 0, fail_at};
}

std::uint64_t draws() { return script.draws; }

// Whatever a draw may fail with: memory that ran out is the least like an error of Shoal's own.
static void count_draw() {
  if (script.draws++ == script.fail_at) throw std::bad_alloc();
}

// Sources are made in the same order on both sides, so each has the stream of its place.
static std::uint64_t next_stream() { return script.seed * 1'000'003 + ++script.sources; }

}  // namespace shoal::test::scripted_bits

namespace shoal::random {

struct SecureSource::State {
  test::SeededSource bits;
};

SecureSource::SecureSource()
    : state_(new State{test::SeededSource(test::scripted_bits::next_stream())}), stream_() {}

SecureSource::SecureSource(KeyStream) : SecureSource() {}

SecureSource::~SecureSource() { delete state_; }

void SecureSource::fill(std::span<unsigned char> bytes) {
  test::scripted_bits::count_draw();
  state_->bits.fill(bytes);
}

std::uint64_t SecureSource::next_bits(int count) {
  if (count == 0) return 0;
  test::scripted_bits::count_draw();
  return state_->bits.next_bits(count);
}

void SecureSource::rekey() {}

// Never called: nothing runs a cipher here.
void SecureSource::run(std::span<unsigned char>) {}
void SecureSource::refill() {}

}  // namespace shoal::random
