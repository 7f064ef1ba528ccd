// A sparse vector at work: it is asked one question after the other, each chosen in the light of
// the answers before, and says below, above or halted.
//
// The noise of the threshold is the secret of the object: whoever knows it, or can run the object
// twice from the same state, has more than was paid for. So it cannot be copied, and a saved state
// is the owner's: it holds that noise in the clear and may be resumed once only. Who makes sure of
// that is session/guarded_state.hpp, with the ledger; nothing here can.
#pragma once

#include <shoal/mechanism/sparse_vector.hpp>
#include <shoal/random/bit_source.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace shoal::mechanism {

struct SparseReply {
  Verdict verdict = Verdict::halted;
  std::optional<Int128> gap = {};    // of a hit, if the spec tells it: noisy value minus noisy
                                     // threshold
  std::optional<Int128> value = {};  // of a hit, if the spec tells it: with fresh noise
};

class ThresholdWatch {
 public:
  // Keeps a reference to `bits`. Throws invalid_argument for a spec that is not valid.
  ThresholdWatch(const SparseVector& spec, random::BitSource& bits);
  // From a saved state. Throws corrupt if it is none.
  ThresholdWatch(std::string_view saved, random::BitSource& bits);
  // Not to be copied: two copies would answer with the same noise.
  ThresholdWatch(ThresholdWatch&&) noexcept;
  ThresholdWatch& operator=(ThresholdWatch&&) noexcept;
  ~ThresholdWatch();

  // Is the value at or above the threshold? Both are in grid steps, strictly between -2^96 and
  // 2^96, and clamped to that, since an error would depend on private data.
  SparseReply ask(Int128 value, Int128 threshold);
  // The same, but what a hit tells is another value, of the same sensitivity: a sum where what is
  // compared is its distance from a guess.
  SparseReply ask(Int128 value, Int128 threshold, Int128 told);

  // Many at once, by their excesses, for specs that tell verdicts only: the same law as asking one
  // by one, and fast. All verdicts after it stopped are halted. Throws invalid_argument if the
  // lengths differ or hits tell more than a verdict.
  void ask(std::span<const std::int64_t> excesses, std::span<Verdict> verdicts);

  const SparseVector& spec() const;
  bool halted() const;
  std::int64_t asked() const;  // answered with below or above
  std::int64_t hits_left() const;
  // Nothing if there is no limit.
  std::optional<std::int64_t> questions_left() const;

  // One line of JSON. Secret: it holds the noise of the threshold. Noise that was drawn ahead is
  // left out, so a resumed object draws its own.
  std::string save() const;
  // The same with no hits left: what to keep on disk while answers leave, so that a crash ends it
  // instead of forking it.
  std::string save_exhausted() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace shoal::mechanism
