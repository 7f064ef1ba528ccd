// The mirror descent of private-pgm (FactoredInference.mirror_descent at commit 41b5346), compiled:
// the same steps, the same line search and the same messages in log space, but for the order in
// which numbers are added.
//
// What makes it fast. Potentials are only ever sums of tables of the measured columns, so one table
// a measurement is kept and clique tables are never written while fitting. A clique is walked in
// blocks of its last columns that fit the first cache: tables are spread over a block, and a block
// is added up into tables, by way of ever larger or smaller sets of the block's columns. Sums of
// exponentials are shifted by the message of the step before, and by the largest term where that
// shift does not serve.
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace {

using Numbers = std::vector<double>;
constexpr std::int64_t block_limit = 4096;
constexpr double smallest = 1e-280;
constexpr double largest = 1e280;

// A table over some columns of a clique, in their order.
struct Table {
  std::vector<int> columns;  // positions in the clique, ascending
  unsigned inner = 0;        // which columns of the block it has
  std::int64_t inner_size = 1;
  std::vector<std::int64_t> outer_strides;
  std::int64_t size = 1;
};

struct Step {  // between a set of the block's columns and the same set with one more
  unsigned from = 0, to = 0;
  std::int64_t before = 1, count = 1, after = 1;
};

// How a clique is walked.
struct Walk {
  std::vector<int> shape;
  int outer_columns = 0;
  std::int64_t outer_size = 1, block = 1;
  std::vector<int> inner_shape;

  explicit Walk(std::vector<int> sizes)
      : shape(std::move(sizes)), outer_columns(static_cast<int>(shape.size())) {
    while (outer_columns > 0 && block * shape[outer_columns - 1] <= block_limit &&
           shape.size() - outer_columns < 5) {
      block *= shape[--outer_columns];
    }
    inner_shape.assign(shape.begin() + outer_columns, shape.end());
    for (int i = 0; i < outer_columns; ++i) outer_size *= shape[i];
  }

  std::int64_t inner_size(unsigned set) const {
    std::int64_t size = 1;
    for (std::size_t i = 0; i < inner_shape.size(); ++i)
      size *= (set >> i & 1U) != 0 ? inner_shape[i] : 1;
    return size;
  }

  Table table(std::vector<int> columns) const {
    Table made;
    made.columns = std::move(columns);
    made.outer_strides.assign(outer_columns, 0);
    for (auto at = made.columns.rbegin(); at != made.columns.rend(); ++at) {
      if (*at >= outer_columns) {
        made.inner |= 1U << (*at - outer_columns);
      } else {
        made.outer_strides[*at] = made.size;
      }
      made.size *= shape[*at];
    }
    made.inner_size = inner_size(made.inner);
    return made;
  }

  // Steps from each wanted set up to the whole block, small sets first; each set is grown by its
  // smallest missing column.
  std::vector<Step> steps(const std::vector<unsigned>& wanted) const {
    const unsigned whole = (1U << inner_shape.size()) - 1U;
    std::vector<Step> found;
    std::vector<bool> seen(whole + 1U, false);
    for (unsigned set : wanted) {
      while (set != whole && !seen[set]) {
        seen[set] = true;
        int column = -1;
        for (int i = 0; i < static_cast<int>(inner_shape.size()); ++i) {
          if ((set >> i & 1U) == 0 && (column < 0 || inner_shape[i] < inner_shape[column]))
            column = i;
        }
        Step step{set, set | 1U << column};
        step.before = inner_size(set & ((1U << column) - 1U));
        step.count = inner_shape[column];
        step.after = inner_size(set & ~((1U << column) - 1U));
        found.push_back(step);
        set = step.to;
      }
    }
    std::sort(found.begin(), found.end(), [](const Step& a, const Step& b) {
      return __builtin_popcount(a.from) < __builtin_popcount(b.from);
    });
    return found;
  }
};

void spread(const Step& step, const double* from, double* to) {
  for (std::int64_t b = 0; b < step.before; ++b, from += step.after) {
    for (std::int64_t c = 0; c < step.count; ++c, to += step.after) {
      for (std::int64_t a = 0; a < step.after; ++a) to[a] += from[a];
    }
  }
}

void spread_last(const Step& step, const double* from, double* to) {
  for (std::int64_t b = 0; b < step.before; ++b, to += step.count) {
    for (std::int64_t c = 0; c < step.count; ++c) to[c] += from[b];
  }
}

void add_up(const Step& step, const double* from, double* to) {
  for (std::int64_t b = 0; b < step.before; ++b, to += step.after) {
    for (std::int64_t c = 0; c < step.count; ++c, from += step.after) {
      for (std::int64_t a = 0; a < step.after; ++a) to[a] += from[a];
    }
  }
}

void add_up_last(const Step& step, const double* from, double* to) {
  for (std::int64_t b = 0; b < step.before; ++b, from += step.count) {
    double total = 0;
    for (std::int64_t c = 0; c < step.count; ++c) total += from[c];
    to[b] += total;
  }
}

void keep_largest(const Step& step, const double* from, double* to) {
  for (std::int64_t b = 0; b < step.before; ++b, to += step.after) {
    for (std::int64_t c = 0; c < step.count; ++c, from += step.after) {
      for (std::int64_t a = 0; a < step.after; ++a) to[a] = std::max(to[a], from[a]);
    }
  }
}

struct Input {
  const Table* table;
  const double* numbers;
  double sign;
};
struct Output {
  const Table* table;
  double* numbers;
};
enum class Kind { plain, exponential, largest_term };

// Adds the inputs up over the clique (to `start`, if there is one), takes exponentials if asked,
// and adds the cells into the outputs or keeps the largest. `cells`, if there, takes what the cells
// were.
void walk(const Walk& way, const std::vector<Input>& inputs, const std::vector<Output>& outputs,
          Kind kind, int threads, const double* start = nullptr, double* cells = nullptr) {
  std::vector<unsigned> spread_sets;
  std::vector<unsigned> sum_sets;
  for (const Input& one : inputs) spread_sets.push_back(one.table->inner);
  for (const Output& one : outputs) sum_sets.push_back(one.table->inner);
  const std::vector<Step> up = way.steps(spread_sets);
  const std::vector<Step> down = way.steps(sum_sets);
  const unsigned whole = (1U << way.inner_shape.size()) - 1U;
  const double none = kind == Kind::largest_term ? -1e300 : 0;
  threads = static_cast<int>(std::min<std::int64_t>(threads, way.outer_size));
  std::vector<std::vector<Numbers>> own(threads, std::vector<Numbers>(outputs.size()));
#pragma omp parallel num_threads(threads)
  {
    const int me = omp_get_thread_num();
    for (std::size_t i = 0; i < outputs.size(); ++i)
      own[me][i].assign(outputs[i].table->size, none);
    std::vector<Numbers> sets(whole + 1U);
    for (unsigned set = 0; set <= whole; ++set) sets[set].resize(way.inner_size(set));
    std::vector<int> place(way.outer_columns);
    const std::int64_t first = way.outer_size * me / threads;
    const std::int64_t last = way.outer_size * (me + 1) / threads;
    const auto offset = [&](const Table& table) {
      std::int64_t at = 0;
      for (int i = 0; i < way.outer_columns; ++i) at += table.outer_strides[i] * place[i];
      return at;
    };
    for (std::int64_t outer = first; outer < last; ++outer) {
      std::int64_t rest = outer;
      for (int i = way.outer_columns - 1; i >= 0; --i) {
        place[i] = static_cast<int>(rest % way.shape[i]);
        rest /= way.shape[i];
      }
      double* block = sets[whole].data();
      if (start != nullptr) {
        std::copy_n(start + outer * way.block, way.block, block);
      } else {
        std::fill_n(block, way.block, 0.0);
      }
      for (const Step& step : up) std::fill(sets[step.from].begin(), sets[step.from].end(), 0.0);
      for (const Input& one : inputs) {
        const double* from = one.numbers + offset(*one.table);
        double* to = sets[one.table->inner].data();
        for (std::int64_t i = 0; i < one.table->inner_size; ++i) to[i] += one.sign * from[i];
      }
      for (const Step& step : up) {
        (step.after == 1 ? spread_last : spread)(step, sets[step.from].data(),
                                                 sets[step.to].data());
      }
      if (kind == Kind::exponential) {
        for (std::int64_t i = 0; i < way.block; ++i)
          block[i] = std::exp(std::clamp(block[i], -700.0, 700.0));
      }
      if (cells != nullptr) std::copy_n(block, way.block, cells + outer * way.block);
      for (const Step& step : down) std::fill(sets[step.from].begin(), sets[step.from].end(), none);
      for (auto step = down.rbegin(); step != down.rend(); ++step) {
        const double* from = sets[step->to].data();
        double* to = sets[step->from].data();
        if (kind == Kind::largest_term) {
          keep_largest(*step, from, to);
        } else {
          (step->after == 1 ? add_up_last : add_up)(*step, from, to);
        }
      }
      for (std::size_t o = 0; o < outputs.size(); ++o) {
        const Table& table = *outputs[o].table;
        const double* from = sets[table.inner].data();
        double* to = own[me][o].data() + offset(table);
        for (std::int64_t i = 0; i < table.inner_size; ++i) {
          to[i] = kind == Kind::largest_term ? std::max(to[i], from[i]) : to[i] + from[i];
        }
      }
    }
  }
  for (std::size_t o = 0; o < outputs.size(); ++o) {
    for (std::int64_t i = 0; i < outputs[o].table->size; ++i) {
      double value = own[0][o][i];
      for (int t = 1; t < threads; ++t)
        value = kind == Kind::largest_term ? std::max(value, own[t][o][i]) : value + own[t][o][i];
      outputs[o].numbers[i] = value;
    }
  }
}

struct Clique {
  Walk way;
  int parent = -1;
  std::vector<int> children;
  std::vector<int> measured;
  Table own_separator;      // towards the parent, in this clique's columns
  Table parents_separator;  // the same columns among the parent's
  Numbers upward;           // the message, or log Z of the root
  Numbers separator;  // the parent's marginal of the separator, then less the message, in logs
};

struct Measured {
  int clique = 0;
  Table table;
  const double* noisy = nullptr;
  double deviation = 1;
  Numbers potential, marginal, best_potential, best_marginal, gradient;
};

class Fit {
 public:
  std::vector<Clique> cliques;  // parents before children; the first is the root
  std::vector<Measured> measured;
  double total = 1;
  int threads = 1;
  std::int64_t propagations = 0;

  void propagate(std::vector<double*> cells = {}) {
    ++propagations;
    for (std::size_t i = cliques.size(); i-- > 0;) upward(static_cast<int>(i));
    for (std::size_t i = 0; i < cliques.size(); ++i)
      downward(static_cast<int>(i), cells.empty() ? nullptr : cells[i]);
  }

  double loss() const {
    double sum = 0;
    for (const Measured& one : measured) {
      for (std::int64_t i = 0; i < one.table.size; ++i) {
        const double apart = (one.marginal[i] - one.noisy[i]) / one.deviation;
        sum += 0.5 * apart * apart;
      }
    }
    return sum;
  }

  double descend(int iterations) {
    propagate();
    double now = loss();
    if (now == 0) return now;
    double rate = 1 / (total * total);
    for (int t = 0; t < iterations; ++t) {
      const double before = now;
      for (Measured& one : measured) {
        one.best_potential = one.potential;
        one.best_marginal = one.marginal;
        one.gradient.resize(one.potential.size());
        for (std::int64_t i = 0; i < one.table.size; ++i) {
          one.gradient[i] = (one.marginal[i] - one.noisy[i]) / (one.deviation * one.deviation);
        }
      }
      rate *= 2;
      for (int halving = 0; halving < 25; ++halving) {
        for (Measured& one : measured) {
          for (std::int64_t i = 0; i < one.table.size; ++i)
            one.potential[i] = one.best_potential[i] - rate * one.gradient[i];
        }
        propagate();
        now = loss();
        double gain = 0;
        for (const Measured& one : measured) {
          for (std::int64_t i = 0; i < one.table.size; ++i)
            gain += one.gradient[i] * (one.best_marginal[i] - one.marginal[i]);
        }
        if (before - now >= 0.5 * rate * gain) break;
        rate *= 0.5;
      }
    }
    return now;
  }

 private:
  std::vector<Input> inputs(const Clique& one) const {
    std::vector<Input> found;
    for (int m : one.measured)
      found.push_back({&measured[m].table, measured[m].potential.data(), 1});
    for (int child : one.children)
      found.push_back({&cliques[child].parents_separator, cliques[child].upward.data(), 1});
    return found;
  }

  void upward(int index) {
    Clique& one = cliques[index];
    std::vector<Input> terms = inputs(one);
    Numbers sums(one.own_separator.size);
    const bool first = one.upward.empty();
    if (first) one.upward.resize(sums.size());
    if (!first) {
      terms.push_back({&one.own_separator, one.upward.data(), -1});
      walk(one.way, terms, {{&one.own_separator, sums.data()}}, Kind::exponential, threads);
      terms.pop_back();
    }
    if (first || std::any_of(sums.begin(), sums.end(),
                             [](double sum) { return sum < smallest || sum > largest; })) {
      walk(one.way, terms, {{&one.own_separator, one.upward.data()}}, Kind::largest_term, threads);
      terms.push_back({&one.own_separator, one.upward.data(), -1});
      walk(one.way, terms, {{&one.own_separator, sums.data()}}, Kind::exponential, threads);
    }
    for (std::size_t i = 0; i < sums.size(); ++i) one.upward[i] += std::log(sums[i]);
  }

  void downward(int index, double* cells) {
    Clique& one = cliques[index];
    if (one.parent < 0) {
      one.separator = {std::log(total) - one.upward[0]};
    } else {
      for (std::size_t i = 0; i < one.separator.size(); ++i) {
        one.separator[i] = std::log(std::max(one.separator[i], 1e-300)) - one.upward[i];
      }
    }
    std::vector<Input> terms = inputs(one);
    terms.push_back({&one.own_separator, one.separator.data(), 1});
    std::vector<Output> sums;
    for (int m : one.measured) sums.push_back({&measured[m].table, measured[m].marginal.data()});
    for (int child : one.children) {
      cliques[child].separator.resize(cliques[child].parents_separator.size);
      sums.push_back({&cliques[child].parents_separator, cliques[child].separator.data()});
    }
    walk(one.way, terms, sums, Kind::exponential, threads, nullptr, cells);
  }
};

const int* read(const int* from, std::vector<int>& to) {  // a count and that many numbers
  to.assign(from + 1, from + 1 + *from);
  return from + 1 + *from;
}

}  // namespace

// `shape`: for each clique its sizes, its parent (-1: none), the separator among its columns and
// among the parent's; then for each measurement its clique and its columns. Lists begin with their
// length.
extern "C" double fit(int clique_count, int measured_count, const int* shape,
                      const double* const* noisy, const double* deviations,
                      double* const* potentials, double* const* cells, double total, int iterations,
                      int threads, std::int64_t* propagations) {
  Fit one;
  one.total = total;
  one.threads = threads;
  std::vector<int> list;
  for (int i = 0; i < clique_count; ++i) {
    shape = read(shape, list);
    one.cliques.push_back({Walk(list)});
    Clique& clique = one.cliques.back();
    clique.parent = *shape++;
    shape = read(shape, list);
    clique.own_separator = clique.way.table(list);
    shape = read(shape, list);
    if (clique.parent >= 0) {
      clique.parents_separator = one.cliques[clique.parent].way.table(list);
      one.cliques[clique.parent].children.push_back(i);
    }
  }
  for (int m = 0; m < measured_count; ++m) {
    Measured made;
    made.clique = *shape++;
    shape = read(shape, list);
    made.table = one.cliques[made.clique].way.table(list);
    made.noisy = noisy[m];
    made.deviation = deviations[m];
    made.potential.assign(potentials[m], potentials[m] + made.table.size);
    made.marginal.resize(made.table.size);
    one.cliques[made.clique].measured.push_back(m);
    one.measured.push_back(std::move(made));
  }
  const double loss = one.descend(iterations);
  one.propagate({cells, cells + clique_count});
  for (int m = 0; m < measured_count; ++m)
    std::copy(one.measured[m].potential.begin(), one.measured[m].potential.end(), potentials[m]);
  *propagations = one.propagations;
  return loss;
}

// Adds a table up into the one of some of its columns.
extern "C" void project(const int* shape, const double* cells, double* out, int threads) {
  std::vector<int> sizes;
  std::vector<int> columns;
  read(read(shape, sizes), columns);
  const Walk way(sizes);
  const Table table = way.table(columns);
  walk(way, {}, {{&table, out}}, Kind::plain, threads, cells);
}
