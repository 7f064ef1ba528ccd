// What a question left to be found, in words: before it is asked and in its answer.
#pragma once

#include <shoal/plan/plan.hpp>
#include <shoal/session/answer.hpp>

#include <nlohmann/json.hpp>

#include <string>

namespace shoal::cli {

// One line each; nothing if the question left nothing open.
std::string found_text(const session::Answer& answer);
std::string search_text(const plan::Plan& plan);
nlohmann::ordered_json search_json(const plan::Plan& plan);

}  // namespace shoal::cli
