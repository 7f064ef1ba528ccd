// Drafting a policy: the text that `shoal init` writes for the owner to fill in. Bounds and
// categories are left commented out: they must be public knowledge, never read off the data.
#pragma once

#include <shoal/catalog/policy.hpp>

#include <string>
#include <vector>

namespace shoal::catalog {

// The policy as text, with a comment for each thing that the owner decides. parse_policy reads it
// back.
std::string draft_policy(const Policy& policy);

// A name as a TOML key: bare where that is allowed, quoted otherwise.
std::string toml_key(const std::string& name);
std::string toml_text(const std::string& text);
// A number as a TOML float.
std::string toml_number(double value);

}  // namespace shoal::catalog
