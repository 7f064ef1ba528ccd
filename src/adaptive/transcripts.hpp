// The step from the sample to the population by counting what may have been said: a union bound
// over transcripts.
#pragma once

#include <cstdint>

namespace shoal::adaptive {

// ln C(n, k), rounded up generously.
double log_choose_up(std::int64_t n, std::int64_t k);

// Half-width such that, except with chance `miss`, for every question t <= questions and every
// count j <= tells of answers before it that told one of `values` values: |mean over the sample -
// mean over the population| <= transcript_width(.., t, j), for whatever question t is after such a
// transcript.
struct TranscriptCount {
  std::int64_t rows;
  std::int64_t questions;
  std::int64_t tells;
  double values;
  double miss;
};
double transcript_width(const TranscriptCount& count, std::int64_t question, std::int64_t told);

}  // namespace shoal::adaptive
