#include "mechanism/noisy_order.hpp"

#include <shoal/base/error.hpp>
#include <shoal/mechanism/selector.hpp>
#include <shoal/random/lazy_exponential.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <utility>

namespace shoal::mechanism {
namespace {

using random::BitSource;
using random::ExponentialSampler;

constexpr std::size_t kFirstBlock = 8;
constexpr std::size_t kLargestBlock = 1024;

// The usual sampler is made once: its tables serve every selection.
const ExponentialSampler& usual_sampler() {
  static const ExponentialSampler sampler;
  return sampler;
}

// First digits and signs of the noises, drawn in blocks, small ones at first so that a choice among
// few candidates does not pay for many. Each noise is given out once.
class NoiseBlock {
 public:
  struct Draw {
    std::int64_t digits;
    bool negative;
  };

  NoiseBlock(const ExponentialSampler& sampler, bool with_signs)
      : sampler_(&sampler), with_signs_(with_signs) {}

  Draw next(BitSource& bits) {
    if (used_ == filled_) refill(bits);
    const std::size_t place = used_++;
    const bool negative = with_signs_ && ((signs_[place / 64] >> (place % 64)) & 1) != 0;
    return {digits_[place], negative};
  }

 private:
  void refill(BitSource& bits) {
    const std::size_t size =
        filled_ == 0 ? kFirstBlock : std::min<std::size_t>(2 * filled_, kLargestBlock);
    // Nothing is left to give out if the source fails halfway.
    used_ = filled_;
    sampler_->fill(std::span(digits_).first(size), bits);
    if (with_signs_) {
      for (std::size_t word = 0; word < (size + 63) / 64; ++word) signs_[word] = bits.next_u64();
    }
    used_ = 0;
    filled_ = size;
  }

  const ExponentialSampler* sampler_;
  bool with_signs_;
  std::size_t used_ = 0;
  std::size_t filled_ = 0;
  std::array<std::int64_t, kLargestBlock> digits_;
  std::array<std::uint64_t, kLargestBlock / 64> signs_;
};

std::size_t checked_count(std::int64_t count) {
  if (count < 1 || count > kMaxChoices) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("{} candidates to choose; take from 1 to {}", count, kMaxChoices));
  }
  return static_cast<std::size_t>(count);
}

}  // namespace

struct Selector::State {
  State(const SelectionNoise& noise, BitSource& source, int digits_at_first)
      : bits(&source),
        count(checked_count(noise.count)),
        first_bits(digits_at_first),
        order(noise.law, noise.scale, first_bits),
        own_sampler(first_bits == ExponentialSampler::kFirstBits
                        ? std::nullopt
                        : std::optional<ExponentialSampler>(first_bits)),
        block(own_sampler ? *own_sampler : usual_sampler(), noise.law == ScoreNoise::laplace) {}

  void offer(Int128 score) {
    if (score <= -kScoreLimit || score >= kScoreLimit) {
      throw Error(ErrorCode::invalid_argument,
                  "a score is out of range; scores must lie strictly between -2^96 and 2^96 steps: "
                  "use a coarser grid");
    }
    broken = true;  // and stays so if the source fails below
    const NoiseBlock::Draw draw = block.next(*bits);
    const NoiseCell cell = order.cell(draw.digits, draw.negative);
    const std::size_t index = offered++;
    if (kept.size() == count) {
      const Contender& last = kept.back();
      if (order.is_surely_below(score, cell, last.score, last.cell)) {
        broken = false;
        return;
      }
    }
    const random::LazyExponential exponential(static_cast<std::uint64_t>(draw.digits), first_bits);
    keep_if_above({index, score, exponential, draw.negative, cell});
    broken = false;
  }

  bool is_above(Contender& a, Contender& b) {
    const NoisyOrder::Answer answer = order.first_look(a.score, a.cell, b.score, b.cell);
    if (answer != NoisyOrder::Answer::unsure) return answer == NoisyOrder::Answer::above;
    return order.is_above(a, b, *bits);
  }

  void keep_if_above(Contender candidate) {
    if (kept.size() == count) {
      if (!is_above(candidate, kept.back())) return;
      kept.pop_back();
    }
    const auto place = std::partition_point(
        kept.begin(), kept.end(), [&](Contender& other) { return is_above(other, candidate); });
    kept.insert(place, std::move(candidate));
  }

  BitSource* bits;
  std::size_t count;
  int first_bits;
  NoisyOrder order;
  std::optional<ExponentialSampler> own_sampler;
  NoiseBlock block;
  std::vector<Contender> kept;  // the highest first
  std::size_t offered = 0;
  bool broken = false;  // a candidate was lost: a choice among the others would have another law
};

Selector::Selector(const SelectionNoise& noise, BitSource& bits)
    : Selector(noise, bits, ExponentialSampler::kFirstBits) {}

Selector::Selector(const SelectionNoise& noise, BitSource& bits, int first_bits)
    : state_(std::make_unique<State>(noise, bits, first_bits)) {}

Selector::Selector(Selector&&) noexcept = default;
Selector& Selector::operator=(Selector&&) noexcept = default;
Selector::~Selector() = default;

void Selector::offer(Int128 score) { state_->offer(score); }

void Selector::offer(std::span<const Int128> scores) {
  for (const Int128 score : scores) state_->offer(score);
}

std::size_t Selector::offered() const { return state_->offered; }

std::vector<std::size_t> Selector::result() const {
  if (state_->broken) {
    throw Error(ErrorCode::unavailable,
                "the random source failed during this selection; start it again");
  }
  if (state_->kept.size() < state_->count) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("{} candidates were offered and {} shall be chosen; offer more",
                            state_->offered, state_->count));
  }
  std::vector<std::size_t> chosen;
  chosen.reserve(state_->kept.size());
  for (const Contender& contender : state_->kept) chosen.push_back(contender.index);
  return chosen;
}

}  // namespace shoal::mechanism
