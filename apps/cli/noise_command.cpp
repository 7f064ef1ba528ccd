// shoal noise: draws of the samplers that answers are made with, or their test against the law.
// Touches no data and no ledger.
#include "commands.hpp"
#include "progress.hpp"
#include "streams.hpp"
#include "table.hpp"

#include <shoal/audit/goodness_of_fit.hpp>
#include <shoal/base/error.hpp>
#include <shoal/base/text.hpp>
#include <shoal/random/discrete_gaussian.hpp>
#include <shoal/random/discrete_laplace.hpp>
#include <shoal/random/rounded_laplace.hpp>
#include <shoal/random/rounded_normal.hpp>
#include <shoal/random/secure_source.hpp>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <charconv>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace shoal::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::int64_t kMostCount = audit::GoodnessTest::kMostCount;
constexpr std::size_t kBlock = 8192;
constexpr std::size_t kLongestValue = 24;  // 20 characters of a value and what stands between two

struct NoiseArguments {
  std::string law, format = "table";
  std::optional<double> scale, sigma;
  std::int64_t count = 1;
  bool verify = false;
};

struct Noise {
  mechanism::AnyMechanism spec;
  std::string parameter;  // "scale" or "sigma"
  std::function<void(std::span<std::int64_t>, random::BitSource&)> fill;
};

template <class Sampler, class Spec>
Noise make_noise(const Spec& spec, const char* parameter, double value) {
  validate(spec);
  return {spec, parameter,
          [sampler = Sampler(value)](std::span<std::int64_t> values, random::BitSource& bits) {
            sampler.fill(values, bits);
          }};
}

double parameter_of(const NoiseArguments& arguments, bool gaussian) {
  const std::optional<double>& wanted = gaussian ? arguments.sigma : arguments.scale;
  const std::optional<double>& other = gaussian ? arguments.scale : arguments.sigma;
  if (wanted && !other) return *wanted;
  const char* name = gaussian ? "--sigma" : "--scale";
  const char* other_name = gaussian ? "--scale" : "--sigma";
  throw Error(
      ErrorCode::invalid_argument,
      other ? fmt::format("{} noise has no {}; say how wide it is with {}", arguments.law,
                          other_name, name)
            : fmt::format("{} is missing; say how wide the noise is, such as {} 10", name, name));
}

Noise noise_of(const NoiseArguments& arguments) {
  const bool gaussian = arguments.law.ends_with("gaussian");
  const double value = parameter_of(arguments, gaussian);
  if (arguments.law == "laplace") {
    return make_noise<random::DiscreteLaplaceSampler>(mechanism::DiscreteLaplace{value}, "scale",
                                                      value);
  }
  if (arguments.law == "gaussian") {
    return make_noise<random::DiscreteGaussianSampler>(mechanism::DiscreteGaussian{value}, "sigma",
                                                       value);
  }
  if (arguments.law == "rounded-laplace") {
    return make_noise<random::RoundedLaplaceSampler>(mechanism::RoundedLaplace{value}, "scale",
                                                     value);
  }
  SHOAL_CHECK(arguments.law == "rounded-gaussian");
  return make_noise<random::RoundedNormalSampler>(mechanism::RoundedGaussian{value}, "sigma",
                                                  value);
}

// Calls `use` with all values, a block at a time.
template <class Use>
void draw(const Noise& noise, std::int64_t count, Progress& progress, const Use& use) {
  random::SecureSource bits;
  std::vector<std::int64_t> values(kBlock);
  while (count > 0) {
    const std::span<std::int64_t> block =
        std::span(values).first(std::min(static_cast<std::size_t>(count), kBlock));
    noise.fill(block, bits);
    use(block);
    count -= static_cast<std::int64_t>(block.size());
    progress.advance(static_cast<std::int64_t>(block.size()));
  }
}

void print_values(const Noise& noise, const NoiseArguments& arguments) {
  Progress progress("values", arguments.count, Printing::as_it_goes);
  Output output;
  const bool json = arguments.format == "json";
  if (json) {
    output.write(fmt::format("{{\"law\": \"{}\", \"{}\": {}, \"count\": {}, \"values\": [\n",
                             name(noise.spec), noise.parameter,
                             format_number(noise_scale(noise.spec)), arguments.count));
  }
  std::int64_t left = arguments.count;
  draw(noise, arguments.count, progress, [&](std::span<const std::int64_t> block) {
    for (const std::int64_t value : block) {
      char* const room = output.room(kLongestValue);
      char* end = std::to_chars(room, room + kLongestValue, value).ptr;
      if (json && --left > 0) *end++ = ',';
      *end++ = '\n';
      output.used(static_cast<std::size_t>(end - room));
    }
  });
  if (json) output.write("]}\n");
  output.flush();
}

Json to_json(const audit::ChiSquare& test) {
  return {{"chi_square", test.statistic}, {"degrees", test.degrees}, {"p_value", test.p_value}};
}

std::string fit_json(const Noise& noise, const audit::GoodnessOfFit& fit, bool passed) {
  Json json = {{"law", name(noise.spec)},
               {noise.parameter, noise_scale(noise.spec)},
               {"count", fit.count},
               {"mean", fit.mean},
               {"standard_deviation", fit.standard_deviation},
               {"exact_mean", fit.exact_mean},
               {"exact_standard_deviation", fit.exact_standard_deviation},
               {"cells", to_json(fit.cells)},
               {"residues", to_json(fit.residues)},
               {"outside", fit.outside},
               {"p_value", fit.p_value},
               {"least_p_value", audit::kLeastPValue},
               {"passed", passed}};
  return json.dump(2) + "\n";
}

std::string fit_table(const Noise& noise, const audit::GoodnessOfFit& fit, bool passed) {
  TextTable moments({"", "drawn", "exact"}, {Align::left, Align::right, Align::right});
  moments.add({"mean", grouped(fit.mean, 6), grouped(fit.exact_mean, 6)});
  moments.add({"standard deviation", grouped(fit.standard_deviation, 7),
               grouped(fit.exact_standard_deviation, 7)});
  TextTable tests({"", "chi-square", "degrees of freedom", "p-value"},
                  {Align::left, Align::right, Align::right, Align::right});
  const auto add = [&tests](const char* what, const audit::ChiSquare& test) {
    tests.add({what, format_rounded(test.statistic, 6), fmt::format("{}", test.degrees),
               format_rounded(test.p_value, 4)});
  };
  add("neighbouring values", fit.cells);
  add("residues modulo 8", fit.residues);
  return fmt::format(
      "  law      {}\n  count    {}\n\n{}\n{}\n  p-value  {}\n  verdict  {}\n",
      describe(noise.spec), grouped(static_cast<double>(fit.count), 18), moments.text(),
      tests.text(), format_rounded(fit.p_value, 4),
      passed ? fmt::format("passes: the p-value is at least {}", format_number(audit::kLeastPValue))
             : "FAILS");
}

void verify(const Noise& noise, const NoiseArguments& arguments) {
  Progress progress("values", arguments.count, Printing::at_the_end);
  audit::GoodnessTest test(noise.spec, arguments.count);
  draw(noise, arguments.count, progress,
       [&test](std::span<const std::int64_t> block) { test.add(block); });
  const audit::GoodnessOfFit fit = test.result();
  const bool passed = fit.p_value >= audit::kLeastPValue;
  progress.finish();
  Output output;
  output.write(arguments.format == "json" ? fit_json(noise, fit, passed)
                                          : fit_table(noise, fit, passed));
  output.flush();
  if (!passed) {
    throw Error(ErrorCode::internal,
                fmt::format("the values do not follow the law: their p-value of {} is below {}, "
                            "which a right sampler gives once in a million runs; run it again, and "
                            "if it fails again release nothing with this program",
                            format_rounded(fit.p_value, 4), format_number(audit::kLeastPValue)));
  }
}

void run(const NoiseArguments& arguments) {
  if (arguments.count < 1 || arguments.count > kMostCount) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("--count is {}; it must be from 1 to {}", arguments.count, kMostCount));
  }
  const Noise noise = noise_of(arguments);
  if (arguments.verify) return verify(noise, arguments);
  print_values(noise, arguments);
}

}  // namespace

void add_noise(CLI::App& app) {
  auto arguments = std::make_shared<NoiseArguments>();
  CLI::App* command = app.add_subcommand(
      "noise",
      "draw noise, or test the sampler that draws it\n\nIntegers, one a line, from the samplers "
      "that answers are made with. Touches no data and no ledger; noise that was printed must not "
      "be used to protect anything.\n\n"
      "With --verify the values are not printed but tested against the exact law (chi-square); the "
      "exit status is 0 if they pass. A right sampler fails about once in a million runs.\n\n"
      "Example: shoal noise laplace --scale 10 --count 1000000 --verify");
  command
      ->add_option("law", arguments->law, "laplace, gaussian, rounded-laplace or rounded-gaussian")
      ->required()
      ->check(CLI::IsMember({"laplace", "gaussian", "rounded-laplace", "rounded-gaussian"}));
  command->add_option("--scale", arguments->scale, "of Laplace noise, from 2^-10 to 2^50");
  command->add_option("--sigma", arguments->sigma, "of Gaussian noise, from 2^-10 to 2^50");
  command->add_option("--count", arguments->count, "how many values; --verify needs 1000")
      ->capture_default_str();
  command->add_flag("--verify", arguments->verify,
                    "test the values against the exact law instead of printing them");
  command->add_option("--format", arguments->format, "how to print")
      ->check(CLI::IsMember({"table", "json"}))
      ->capture_default_str();
  command->callback([arguments] { run(*arguments); });
}

}  // namespace shoal::cli
