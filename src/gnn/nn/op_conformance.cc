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

constexpr int32_t kPaddedRows = 3;
constexpr double kCanary = 12345.5;

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
  Run(Layer<T>& layer, const CheckBatch& batch, const OpPlace& place, int threads, T before)
      : layer_(layer),
        batch_(batch),
        state_(layer.MakeState()),
        x_(batch.x, batch.num_src, place.in, std::numeric_limits<T>::quiet_NaN()),
        out_(batch.num_dst, place.out, before, T(kCanary)),
        grad_out_(batch.grad, batch.num_dst, place.out, std::numeric_limits<T>::quiet_NaN()),
        grad_x_(batch.num_src, place.in, before, T(kCanary)),
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
  // Runs Backward on parameter gradients that hold `gradients_before`. Returns what it and the Forward before it wrote.
  Outcome<T> Backward(T gradients_before = T(0)) {
    Outcome<T> outcome;
    outcome.out = out_.Inside();
    Note(out_, "Forward", "its result", outcome);
    for (Parameter<T>* p : layer_.parameters()) std::fill(p->gradient.begin(), p->gradient.end(), gradients_before);
    layer_.Backward(batch_.View(), x_.rows, grad_out_.rows, grad_x_.rows, *state_, context_);
    outcome.grad_x = grad_x_.Inside();
    Note(grad_x_, "Backward", "grad_x", outcome);
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
  static void Note(const Padded<T>& rows, const char* pass, const char* what, Outcome<T>& outcome) {
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
Outcome<T> RunBothWays(Layer<T>& layer, const CheckBatch& batch, const OpPlace& place, int threads = 1, T before = T(0),
                       T gradients_before = T(0)) {
  Run<T> run(layer, batch, place, threads, before);
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

class Checker {
 public:
  Checker(const OpKind& kind, const OpPlace& place, uint64_t seed) : kind_(kind), place_(place) {
    Rng rng(seed);
    batch_ = MakeCheckBatch(kind.aggregates(), 257, 600, place, rng, 3);
    other_ = MakeCheckBatch(kind.aggregates(), 190, 430, place, rng, 4);
    layer_ = MakeLayerOf<float>(kind, place);
  }

  // Runs all checks.
  std::vector<OpFinding> Check() {
    const Outcome<float> plain = RunBothWays<float>(*layer_, batch_, place_);
    if (!plain.padding.empty()) {
      Find("padded-rows", plain.padding);
    } else if (HasNan(plain.out) || HasNan(plain.grad_x)) {
      Find("padded-rows", fmt::format("{} has a NaN, which rows behind the batch's hold and no other: they are read",
                                      HasNan(plain.out) ? "the result of Forward" : "grad_x of Backward"));
    }
    CheckThreads(plain);
    CheckOverwrites(plain);
    CheckState(plain);
    CheckGradients();
    return std::move(findings_);
  }

 private:
  void Find(const char* rule, std::string what) { findings_.push_back({rule, std::move(what)}); }

  // Checks that the number of threads does not change a result.
  void CheckThreads(const Outcome<float>& plain) {
    for (const int threads : {1, 2, 3, 8}) {
      const Outcome<float> again = RunBothWays<float>(*layer_, batch_, place_, threads);
      const std::string difference = FirstDifference(plain, again, place_);
      if (difference.empty()) continue;
      Find("one-order", fmt::format("{} with 1 and with {} threads", difference, threads));
      return;
    }
  }

  // Checks that results overwrite their memory, and that the parameters' gradients are added to theirs.
  void CheckOverwrites(const Outcome<float>& plain) {
    const Outcome<float> over_garbage = RunBothWays<float>(*layer_, batch_, place_, 1, 7.5f);
    if (over_garbage.out != plain.out) {
      Find("overwrites", "Forward's result depends on what its memory held: " +
                             FirstDifference(plain.out, over_garbage.out, place_.out));
    } else if (over_garbage.grad_x != plain.grad_x) {
      Find("overwrites",
           "grad_x depends on what its memory held: " + FirstDifference(plain.grad_x, over_garbage.grad_x, place_.in));
    }
    const Outcome<float> added = RunBothWays<float>(*layer_, batch_, place_, 1, 0.0f, 64.0f);
    for (size_t p = 0; p < plain.gradients.size(); ++p) {
      for (size_t i = 0; i < plain.gradients[p].size(); ++i) {
        const float expected = plain.gradients[p][i] + 64.0f, found = added.gradients[p][i];
        if (std::abs(found - expected) <= 1e-4f * (64.0f + std::abs(expected))) continue;
        Find("overwrites",
             fmt::format("a Layer adds to its parameters' gradients, and one that was 64 is {:.6g} instead of {:.6g}",
                         found, expected));
        return;
      }
    }
  }

  // Runs two batches at the same time: what Forward keeps for Backward must be in the LayerState.
  void CheckState(const Outcome<float>& plain) {
    Run<float> first(*layer_, batch_, place_, 1, 0.0f), second(*layer_, other_, place_, 1, 0.0f);
    first.Forward();
    second.Forward();
    const std::string difference = FirstDifference(plain, first.Backward(), place_);
    if (difference.empty()) return;
    Find("no-state", difference + ", where another batch's Forward came before this one's Backward");
  }

  // Compares the gradients, in double precision, with central differences.
  void CheckGradients() {
    const std::unique_ptr<Layer<double>> layer = MakeLayerOf<double>(kind_, place_);
    Run<double> run(*layer, batch_, place_, 1, 0.0);
    run.Forward();
    const Outcome<double> found = run.Backward();
    Rng rng(77);
    // Compares the gradient along a random direction with a central difference.
    const auto compare = [&](const std::string& quantity, std::vector<double>& values,
                             const std::vector<double>& gradient) {
      constexpr double kStep = 1e-6;
      std::vector<double> direction(gradient.size());
      double expected = 0, size = 0;
      for (size_t i = 0; i < gradient.size(); ++i) {
        direction[i] = 2 * rng.Uniform() - 1;
        expected += direction[i] * gradient[i];
        size += std::abs(direction[i] * gradient[i]);
      }
      const std::vector<double> before = values;
      const auto at = [&](double step) {
        for (size_t i = 0; i < direction.size(); ++i) values[i] = before[i] + step * direction[i];
        return run.RunObjective();
      };
      const double above = at(kStep), below = at(-kStep), difference = (above - below) / (2 * kStep);
      values = before;
      if (std::abs(difference - expected) <= 1e-5 * (1 + size)) return;
      Find("gradients",
           fmt::format("along a random direction of {} the gradient is {:.9g} and the finite difference {:.9g}",
                       quantity, expected, difference));
    };
    std::vector<double> gradient = found.grad_x;
    compare("x", run.x(), gradient);
    size_t p = 0;
    for (Parameter<double>* parameter : layer->parameters()) {
      if (parameter->trainable()) compare(parameter->name, parameter->value, found.gradients[p++]);
    }
  }

  const OpKind& kind_;
  const OpPlace& place_;
  CheckBatch batch_, other_;
  std::unique_ptr<Layer<float>> layer_;
  std::vector<OpFinding> findings_;
};

}  // namespace

Result<std::vector<OpFinding>> CheckOp(const OpKind& kind, const OpCheck& check) {
  HONE_ASSIGN_OR_RETURN(const OpPlace place, CheckedPlace(kind, check));
  return Checker(kind, place, check.seed).Check();
}

}  // namespace hone::gnn
