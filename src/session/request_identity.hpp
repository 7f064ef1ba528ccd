// What makes two requests the same: canonical JSON of typed fields, each under its name. Equal
// texts are one request, which is paid once; anything that changes what is computed, its noise or
// its cost changes the text. No prose and no positions go in, so that rewording a message or
// reordering a list of kinds never makes two requests one, nor one two.
//
// Each function takes its struct apart field by field: a new field does not compile until it is
// listed here.
#pragma once

#include <shoal/catalog/policy.hpp>
#include <shoal/plan/plan.hpp>
#include <shoal/session/synthesis.hpp>
#include <shoal/session/training.hpp>

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace shoal::session {

std::string identity_of(const plan::Plan& plan, const catalog::Policy& policy);
std::string identity_of(const TrainingPlan& plan, const catalog::Policy& policy);
std::string identity_of(const SynthesisPlan& plan, const catalog::Policy& policy);

// Parts of a training's identity: what is learnt and how (learning_identity.cpp).
nlohmann::ordered_json identity_of(const learn::Problem& problem);
nlohmann::ordered_json identity_of(const learn::Method& method);
nlohmann::ordered_json identity_of(const learn::HeldOutCounts& counts);
nlohmann::ordered_json identity_of(const learn::PrivateSelection& selection);

}  // namespace shoal::session
