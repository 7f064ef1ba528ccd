// Words for what is in a synthetic table.
#pragma once

#include <shoal/synth/domain.hpp>

#include <string>
#include <vector>

namespace shoal::session {

// What each code of a column stands for, in order.
std::vector<std::string> value_labels(const synth::DomainColumn& column);

}  // namespace shoal::session
