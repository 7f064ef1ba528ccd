// Widths of answers with Gaussian noise: the searches behind the bounds that have a sigma.
#pragma once

#include <shoal/adaptive/generalization.hpp>

namespace shoal::adaptive {

// Two-sided normal quantile of a tail, nearly: for searches alone.
double rough_quantile(double tail);

// A transfer theorem of the form width = accuracy + gap(epsilon) + c + weight(epsilon) * d, miss =
// b / c + delta / d. `jung` is that of Jung et al., else the tanh-posterior one.
Width transfer_width(const Sample& sample, bool jung);
Width transfer_width_at(const Sample& sample, bool jung, double sigma);

Width kl_width(const Sample& sample);
Width kl_width_at(const Sample& sample, double sigma);

Width rogers_width(const Sample& sample);
Width bnsssu_width(const Sample& sample);
Width dfhprr_width(const Sample& sample);

}  // namespace shoal::adaptive
