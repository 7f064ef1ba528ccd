#include <shoal/base/error.hpp>
#include <shoal/mechanism/threshold_watch.hpp>
#include <shoal/random/discrete_gaussian.hpp>
#include <shoal/random/discrete_laplace.hpp>
#include <shoal/random/geometric.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <variant>
#include <vector>

namespace shoal::mechanism {
namespace {

using Sampler = std::variant<random::GeometricSampler, random::DiscreteLaplaceSampler,
                             random::DiscreteGaussianSampler>;

Sampler make_sampler(SparseNoise noise, double scale) {
  switch (noise) {
    case SparseNoise::geometric:
      return random::GeometricSampler(scale);
    case SparseNoise::laplace:
      return random::DiscreteLaplaceSampler(scale);
    case SparseNoise::gaussian:
      return random::DiscreteGaussianSampler(scale);
  }
  throw Error(ErrorCode::internal, "there is no such noise");
}

// Noise drawn ahead: a block costs a few nanoseconds a value, one at a time many more. The first
// blocks are small, so that few questions do not pay for many.
class Supply {
 public:
  Supply(SparseNoise noise, double scale) : sampler_(make_sampler(noise, scale)) {}

  std::span<const std::int64_t> ahead(random::BitSource& bits) {
    if (next_ == block_.size()) {
      block_.resize(std::clamp<std::size_t>(4 * block_.size(), kFirst, kMost));
      // Nothing is there to be used until it was drawn: a source may fail.
      next_ = block_.size();
      std::visit([&](const auto& sampler) { sampler.fill(block_, bits); }, sampler_);
      next_ = 0;
    }
    return std::span<const std::int64_t>(block_).subspan(next_);
  }
  // What was used is wiped: it says how far a value is from the threshold.
  void use(std::size_t count) {
    std::fill_n(block_.begin() + static_cast<std::ptrdiff_t>(next_), count, 0);
    next_ += count;
  }
  std::int64_t take(random::BitSource& bits) {
    const std::int64_t value = ahead(bits).front();
    use(1);
    return value;
  }

 private:
  static constexpr std::size_t kFirst = 16;
  static constexpr std::size_t kMost = 4096;

  Sampler sampler_;
  std::vector<std::int64_t> block_;
  std::size_t next_ = 0;
};

}  // namespace

struct ThresholdWatch::State {
  State(const SparseVector& of, random::BitSource& source)
      : spec(of),
        bits(&source),
        thresholds(of.noise, of.threshold_scale),
        queries(of.noise, of.query_scale) {}

  void draw_threshold() { threshold = thresholds.take(*bits); }

  bool halted() const {
    return hits == spec.hits || (spec.questions != 0 && asked == spec.questions);
  }

  void count_hit() {
    ++hits;
    if (spec.redraw && hits < spec.hits) draw_threshold();
  }

  SparseVector spec;
  random::BitSource* bits;
  Supply thresholds;
  Supply queries;
  Int128 threshold = 0;  // its noise
  std::int64_t asked = 0;
  std::int64_t hits = 0;
};

ThresholdWatch::ThresholdWatch(const SparseVector& spec, random::BitSource& bits) {
  validate(spec);
  state_ = std::make_unique<State>(spec, bits);
  state_->draw_threshold();
}

ThresholdWatch::ThresholdWatch(std::string_view saved, random::BitSource& bits) {
  try {
    const nlohmann::json json = nlohmann::json::parse(saved);
    SparseVector spec;
    from_json(json.at("spec").dump(), spec);
    state_ = std::make_unique<State>(spec, bits);
    state_->threshold = json.at("threshold_noise").get<std::int64_t>();
    state_->asked = json.at("asked").get<std::int64_t>();
    state_->hits = json.at("hits").get<std::int64_t>();
  } catch (const std::exception&) {
    throw Error(ErrorCode::corrupt, "the saved state is no state of a sparse vector; restore it");
  }
  const State& state = *state_;
  const bool possible = state.hits >= 0 && state.hits <= state.spec.hits &&
                        state.asked >= state.hits &&
                        (state.spec.questions == 0 || state.asked <= state.spec.questions) &&
                        (state.spec.noise != SparseNoise::geometric || state.threshold >= 0);
  if (!possible) {
    throw Error(ErrorCode::corrupt, "the saved state is no state of a sparse vector; restore it");
  }
}

ThresholdWatch::ThresholdWatch(ThresholdWatch&&) noexcept = default;
ThresholdWatch& ThresholdWatch::operator=(ThresholdWatch&&) noexcept = default;
ThresholdWatch::~ThresholdWatch() = default;

SparseReply ThresholdWatch::ask(Int128 value, Int128 threshold) {
  return ask(value, threshold, value);
}

SparseReply ThresholdWatch::ask(Int128 value, Int128 threshold, Int128 told) {
  State& state = *state_;
  if (state.halted()) return {};
  const auto clamped = [](Int128 x) { return std::clamp(x, -kScoreLimit + 1, kScoreLimit - 1); };
  value = clamped(value);
  const Int128 gap = value + state.queries.take(*state.bits) - clamped(threshold) - state.threshold;
  ++state.asked;
  if (gap < 0) return {.verdict = Verdict::below};
  SparseReply reply{.verdict = Verdict::above};
  if (state.spec.gap) reply.gap = gap;
  if (state.spec.answer_scale != 0) {
    reply.value =
        clamped(told) + random::sample_discrete_laplace(state.spec.answer_scale, *state.bits);
  }
  state.count_hit();
  return reply;
}

void ThresholdWatch::ask(std::span<const std::int64_t> excesses, std::span<Verdict> verdicts) {
  State& state = *state_;
  if (excesses.size() != verdicts.size()) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("there are {} questions and room for {} verdicts; give as much of both",
                            excesses.size(), verdicts.size()));
  }
  if (state.spec.gap || state.spec.answer_scale != 0) {
    throw Error(ErrorCode::invalid_argument,
                "many questions at once have verdicts only, and these hits tell more; ask them one "
                "by one");
  }
  std::size_t done = 0;
  while (done < excesses.size() && !state.halted()) {
    const std::span<const std::int64_t> noise = state.queries.ahead(*state.bits);
    std::size_t count = std::min(noise.size(), excesses.size() - done);
    if (state.spec.questions != 0) {
      count = std::min(count, static_cast<std::size_t>(state.spec.questions - state.asked));
    }
    std::size_t i = 0;
    bool hit = false;
    for (; i < count && !hit; ++i) {
      hit = static_cast<Int128>(excesses[done + i]) + noise[i] >= state.threshold;
      verdicts[done + i] = hit ? Verdict::above : Verdict::below;
    }
    state.queries.use(i);
    state.asked += static_cast<std::int64_t>(i);
    if (hit) state.count_hit();
    done += i;
  }
  std::fill(verdicts.begin() + static_cast<std::ptrdiff_t>(done), verdicts.end(), Verdict::halted);
}

const SparseVector& ThresholdWatch::spec() const { return state_->spec; }
bool ThresholdWatch::halted() const { return state_->halted(); }
std::int64_t ThresholdWatch::asked() const { return state_->asked; }
std::int64_t ThresholdWatch::hits_left() const { return state_->spec.hits - state_->hits; }

std::optional<std::int64_t> ThresholdWatch::questions_left() const {
  if (state_->spec.questions == 0) return std::nullopt;
  return state_->spec.questions - state_->asked;
}

namespace {

std::string saved(const SparseVector& spec, Int128 threshold, std::int64_t asked,
                  std::int64_t hits) {
  return fmt::format("{{\"spec\": {}, \"threshold_noise\": {}, \"asked\": {}, \"hits\": {}}}",
                     to_json(spec), shoal::to_string(threshold), asked, hits);
}

}  // namespace

std::string ThresholdWatch::save() const {
  const State& state = *state_;
  return saved(state.spec, state.threshold, state.asked, state.hits);
}

std::string ThresholdWatch::save_exhausted() const {
  const State& state = *state_;
  std::int64_t asked = std::max(state.asked, state.spec.hits);
  if (state.spec.questions != 0) asked = state.spec.questions;
  return saved(state.spec, 0, asked, std::min(state.spec.hits, asked));
}

}  // namespace shoal::mechanism
