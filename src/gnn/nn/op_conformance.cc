// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Checks an operation's Layer. Each check runs forward and backward in memory whose padding and previous contents are
// known, and compares the results.
#include "hone/gnn/op_conformance.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <memory>

#include "gnn/nn/op_check_batch.h"

namespace hone::gnn {
namespace {

constexpr int32_t kPaddedRows = 3;   // rows behind each matrix, which an operation must neither read nor write
constexpr double kCanary = 12345.5;  // value of the padding of results; another value shows a write

template <typename T>
std::unique_ptr<Layer<T>> MakeLayerOf(const OpKind& kind, const OpPlace& place) {
  if constexpr (std::is_same_v<T, float>) {
    return kind.MakeLayer(place);
  } else {
    return kind.MakeDoubleLayer(place);
  }
}

template <typename T>
struct Outcome {
  std::vector<T> out, grad_x;
  std::vector<std::vector<T>> gradients;  // one per trainable parameter
  std::string padding;                    // where padding was written, in words; empty: nowhere
  bool operator==(const Outcome& other) const {
    return out == other.out && grad_x == other.grad_x && gradients == other.gradients;
  }
};

// A matrix followed by rows of padding.
template <typename T>
struct Padded {
  std::vector<T> values;
  Matrix<T> rows;
  Padded(int64_t count, int64_t columns, T inside, T padding) {
    values.assign(static_cast<size_t>(count * columns), inside);
    values.resize(static_cast<size_t>((count + kPaddedRows) * columns), padding);
    rows = {values.data(), count, columns, columns};
  }
  Padded(const std::vector<double>& from, int64_t count, int64_t columns, T padding)
      : Padded(count, columns, T(0), padding) {
    for (size_t i = 0; i < from.size(); ++i) values[i] = static_cast<T>(from[i]);
  }
  std::vector<T> Inside() const { return {values.begin(), values.begin() + rows.rows * rows.cols}; }
  // Returns the first row of the padding that was changed; -1: none was.
  int64_t FirstWrittenPadding(T padding) const {
    for (size_t i = static_cast<size_t>(rows.rows * rows.cols); i < values.size(); ++i) {
      if (values[i] != padding) return static_cast<int64_t>(i) / rows.cols;
    }
    return -1;
  }
};

template <typename T>
class Run {
 public:
  Run(Layer<T>& layer, const CheckBatch& batch, const OpPlace& place, int threads, T initial)
      : layer_(layer),
        batch_(batch),
        state_(layer.MakeState()),
        x_(batch.x, batch.num_src, place.in, std::numeric_limits<T>::quiet_NaN()),
        out_(batch.num_dst, place.out, initial, T(kCanary)),
        grad_out_(batch.grad, batch.num_dst, place.out, std::numeric_limits<T>::quiet_NaN()),
        grad_x_(batch.num_src, place.in, initial, T(kCanary)),
        edges_(batch.edges, static_cast<int64_t>(batch.columns.size()), place.edge_columns,
               std::numeric_limits<T>::quiet_NaN()) {
    context_.key = {.seed = 5, .epoch = 1, .step = batch.step, .shard = 0};
    context_.layer = place.layer;
    context_.training = true;
    context_.nodes = batch.nodes;
    context_.threads = threads;
    if (place.edge_columns > 0) context_.edge_rows = Matrix<const T>(edges_.rows);
  }
  void Forward() { layer_.Forward(batch_.View(), x_.rows, out_.rows, *state_, context_); }
  // Runs Backward on parameter gradients that already hold `gradients_before`. Returns what it and the Forward before
  // it wrote.
  Outcome<T> Backward(T gradients_before = T(0)) {
    Outcome<T> outcome;
    outcome.out = out_.Inside();
    NotePaddingWritten(out_, "Forward", "its result", outcome);
    for (Parameter<T>* p : layer_.parameters()) std::fill(p->gradient.begin(), p->gradient.end(), gradients_before);
    layer_.Backward(batch_.View(), x_.rows, grad_out_.rows, grad_x_.rows, *state_, context_);
    outcome.grad_x = grad_x_.Inside();
    NotePaddingWritten(grad_x_, "Backward", "grad_x", outcome);
    for (Parameter<T>* p : layer_.parameters()) {
      if (p->trainable()) outcome.gradients.push_back(p->gradient);
    }
    return outcome;
  }
  std::vector<T>& x() { return x_.values; }
  // Runs Forward, and returns the sum of its result times the given gradient: the function that Backward
  // differentiates.
  double RunObjective() {
    Forward();
    double sum = 0;
    for (size_t i = 0; i < batch_.grad.size(); ++i) sum += batch_.grad[i] * static_cast<double>(out_.values[i]);
    return sum;
  }

 private:
  // Records the first row behind the batch's rows that a call has overwritten.
  static void NotePaddingWritten(const Padded<T>& rows, const char* pass, const char* what, Outcome<T>& outcome) {
    const int64_t row = rows.FirstWrittenPadding(T(kCanary));
    if (row >= 0 && outcome.padding.empty()) {
      outcome.padding = fmt::format("{} wrote row {} of {}, which has {}", pass, row, what, rows.rows.rows);
    }
  }

  Layer<T>& layer_;
  const CheckBatch& batch_;
  std::unique_ptr<LayerState> state_;
  Padded<T> x_, out_, grad_out_, grad_x_, edges_;
  LayerContext context_;
};

template <typename T>
Outcome<T> RunBothWays(Layer<T>& layer, const CheckBatch& batch, const OpPlace& place, int threads = 1,
                       T initial = T(0), T gradients_before = T(0)) {
  Run<T> run(layer, batch, place, threads, initial);
  run.Forward();
  return run.Backward(gradients_before);
}

template <typename T>
bool HasNan(const std::vector<T>& values) {
  return std::any_of(values.begin(), values.end(), [](T x) { return std::isnan(x); });
}

// Returns the first difference: "row 3, column 2 is 0.5 and 0.25".
template <typename T>
std::string FirstDifference(const std::vector<T>& a, const std::vector<T>& b, int64_t columns) {
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    if (a[i] == b[i]) continue;
    return fmt::format("row {}, column {} is {:.9g} and {:.9g}", static_cast<int64_t>(i) / columns,
                       static_cast<int64_t>(i) % columns, a[i], b[i]);
  }
  return "";
}
template <typename T>
std::string FirstDifference(const Outcome<T>& a, const Outcome<T>& b, const OpPlace& place) {
  if (a.out != b.out) return "of the result " + FirstDifference(a.out, b.out, place.out);
  if (a.grad_x != b.grad_x) return "of grad_x " + FirstDifference(a.grad_x, b.grad_x, place.in);
  for (size_t p = 0; p < a.gradients.size(); ++p) {
    if (a.gradients[p] == b.gradients[p]) continue;
    return fmt::format("of the gradient of trainable parameter {} {}", p + 1,
                       FirstDifference(a.gradients[p], b.gradients[p], static_cast<int64_t>(a.gradients[p].size())));
  }
  return "";
}

// Runs an operation's Layer on made-up batches, and collects the rules that it breaks.
class Checker {
 public:
  Checker(const OpKind& kind, const OpPlace& place, uint64_t seed) : kind_(kind), place_(place) {
    Rng rng(seed);
    // Two batches of odd sizes, of destinations and sources, as steps 3 and 4.
    batch_ = MakeCheckBatch(kind.aggregates(), 257, 600, place, rng, 3);
    second_batch_ = MakeCheckBatch(kind.aggregates(), 190, 430, place, rng, 4);
    layer_ = MakeLayerOf<float>(kind, place);
  }

  // Runs all checks.
  std::vector<OpFinding> Check() {
    const Outcome<float> reference = RunBothWays<float>(*layer_, batch_, place_);
    if (!reference.padding.empty()) {
      AddFinding("padded-rows", reference.padding);
    } else if (HasNan(reference.out) || HasNan(reference.grad_x)) {
      AddFinding("padded-rows",
                 fmt::format("{} has a NaN, which rows behind the batch's hold and no other: they are read",
                             HasNan(reference.out) ? "the result of Forward" : "grad_x of Backward"));
    }
    CheckThreads(reference);
    CheckOverwrites(reference);
    CheckState(reference);
    CheckGradients();
    return std::move(findings_);
  }

 private:
  void AddFinding(const char* rule, std::string what) { findings_.push_back({rule, std::move(what)}); }

  // Checks that the number of threads does not change a result.
  void CheckThreads(const Outcome<float>& reference) {
    for (const int threads : {1, 2, 3, 8}) {
      const Outcome<float> with_threads = RunBothWays<float>(*layer_, batch_, place_, threads);
      const std::string difference = FirstDifference(reference, with_threads, place_);
      if (difference.empty()) continue;
      AddFinding("one-order", fmt::format("{} with 1 and with {} threads", difference, threads));
      return;
    }
  }

  // Checks that results overwrite their memory, and that the parameters' gradients are added to theirs.
  void CheckOverwrites(const Outcome<float>& reference) {
    const Outcome<float> over_other_values = RunBothWays<float>(*layer_, batch_, place_, 1, 7.5f);
    if (over_other_values.out != reference.out) {
      AddFinding("overwrites", "Forward's result depends on what its memory held: " +
                             FirstDifference(reference.out, over_other_values.out, place_.out));
    } else if (over_other_values.grad_x != reference.grad_x) {
      AddFinding("overwrites", "grad_x depends on what its memory held: " +
                                   FirstDifference(reference.grad_x, over_other_values.grad_x, place_.in));
    }
    // 64 is exact in fp32, so that only the sum rounds.
    const Outcome<float> added = RunBothWays<float>(*layer_, batch_, place_, 1, 0.0f, 64.0f);
    for (size_t p = 0; p < reference.gradients.size(); ++p) {
      for (size_t i = 0; i < reference.gradients[p].size(); ++i) {
        const float expected = reference.gradients[p][i] + 64.0f, found = added.gradients[p][i];
        if (std::abs(found - expected) <= 1e-4f * (64.0f + std::abs(expected))) continue;
        AddFinding("overwrites",
             fmt::format("a Layer adds to its parameters' gradients, and one that was 64 is {:.6g} instead of {:.6g}",
                         found, expected));
        return;
      }
    }
  }

  // Runs two batches at the same time: what Forward keeps for Backward must be in the LayerState.
  void CheckState(const Outcome<float>& reference) {
    Run<float> first(*layer_, batch_, place_, 1, 0.0f), second(*layer_, second_batch_, place_, 1, 0.0f);
    first.Forward();
    second.Forward();
    const std::string difference = FirstDifference(reference, first.Backward(), place_);
    if (difference.empty()) return;
    AddFinding("no-state", difference + ", where another batch's Forward came before this one's Backward");
  }

  // Compares the gradients, in double precision, with central differences.
  void CheckGradients() {
    const std::unique_ptr<Layer<double>> layer = MakeLayerOf<double>(kind_, place_);
    Run<double> run(*layer, batch_, place_, 1, 0.0);
    run.Forward();
    const Outcome<double> outcome = run.Backward();
    Rng rng(77);
    // Compares the gradient along a random direction with a central difference.
    const auto compare = [&](const std::string& quantity, std::vector<double>& values,
                             const std::vector<double>& gradient) {
      constexpr double kStep = 1e-6;  // truncation and rounding of a double's central difference are both small here
      std::vector<double> direction(gradient.size());
      double expected = 0, magnitude = 0;  // `magnitude`: sum of the terms' magnitudes, which may cancel in `expected`
      for (size_t i = 0; i < gradient.size(); ++i) {
        direction[i] = 2 * rng.Uniform() - 1;
        expected += direction[i] * gradient[i];
        magnitude += std::abs(direction[i] * gradient[i]);
      }
      const std::vector<double> values_before = values;
      const auto objective_at = [&](double step) {
        for (size_t i = 0; i < direction.size(); ++i) values[i] = values_before[i] + step * direction[i];
        return run.RunObjective();
      };
      const double objective_above = objective_at(kStep), objective_below = objective_at(-kStep),
                   difference = (objective_above - objective_below) / (2 * kStep);
      values = values_before;
      if (std::abs(difference - expected) <= 1e-5 * (1 + magnitude)) return;
      AddFinding("gradients",
           fmt::format("along a random direction of {} the gradient is {:.9g} and the finite difference {:.9g}",
                       quantity, expected, difference));
    };
    std::vector<double> gradient = outcome.grad_x;
    compare("x", run.x(), gradient);
    size_t p = 0;
    for (Parameter<double>* parameter : layer->parameters()) {
      if (parameter->trainable()) compare(parameter->name, parameter->value, outcome.gradients[p++]);
    }
  }

  const OpKind& kind_;
  const OpPlace& place_;
  CheckBatch batch_, second_batch_;
  std::unique_ptr<Layer<float>> layer_;
  std::vector<OpFinding> findings_;
};

}  // namespace

Result<std::vector<OpFinding>> CheckOp(const OpKind& kind, const OpCheck& check) {
  HONE_ASSIGN_OR_RETURN(const OpPlace place, CheckedPlace(kind, check));
  return Checker(kind, place, check.seed).Check();
}

}  // namespace hone::gnn
