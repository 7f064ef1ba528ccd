// Parts of a training plan: how methods are chosen, made and described.
#pragma once

#include <shoal/catalog/policy.hpp>
#include <shoal/session/training.hpp>

#include <optional>
#include <string>
#include <vector>

namespace shoal::session {

struct Chosen {
  std::string method;
  std::string reason;
};

// By public facts alone where "auto" is asked for.
Chosen choose_method(const TrainOptions& options);

learn::Method exponential_method(const TrainingPlan& plan, const TrainOptions& options,
                                 Neighbors neighbors);
learn::Method frank_wolfe_method(const TrainingPlan& plan, const TrainOptions& options,
                                 Neighbors neighbors);

// What --explain says of a method, in whole lines.
std::string method_lines(const learn::ObjectivePerturbation& method);
std::string method_lines(const learn::OutputPerturbation& method);
std::string method_lines(const learn::AdaSsp& method);
std::string method_lines(const learn::ExponentialChoice& method);
std::string method_lines(const learn::FrankWolfe& method);
std::string selection_lines(const learn::PrivateSelection& selection,
                            const std::vector<double>& l2);

// What the method and the model make of the options.
double row_norm_of(const TrainOptions& options, const learn::Pipeline& pipeline);
std::vector<std::string> columns_of(const TrainOptions& options, const catalog::Table& table,
                                    const learn::Target& target);
learn::ConvexSet set_of(const TrainOptions& options);

// The counts on rows set aside, if they are asked for.
std::optional<learn::HeldOutCounts> counts_of(const TrainingPlan& plan, const TrainOptions& options,
                                              Neighbors neighbors);

}  // namespace shoal::session
