// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// What an operation of a spec is on the CPU: forward and backward of one value, over matrices that the interpreter
// (spec_model.h) places.
//
// An operation owns parameters and nothing of a batch; what backward needs of forward is in a LayerState, in the
// operands, or in the output where the operation says that it reads that again.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/random.h"
#include "gnn/ops/aggregate.h"
#include "hone/gnn/layer.h"
#include "hone/gnn/model_spec.h"

namespace hone::gnn {

// The edges of one row set by source, made when the first backward pass of a batch asks for them.
class SourcesOfHop {
 public:
  void Forget() { made_ = false; }
  const SourceMajorBlock& Get(const BlockView& block) {
    if (!made_) BySource(block, sources_);
    made_ = true;
    return sources_;
  }

 private:
  SourceMajorBlock sources_;
  bool made_ = false;
};

template <typename T>
struct OperationCall {
  BlockView block;  // of an aggregation; its sources are the operand's rows
  SourcesOfHop* sources = nullptr;
  // Each has at least the rows that the operation reads: those of `out`, or of an aggregation block.num_src.
  std::span<const Matrix<const T>> operands;
  Matrix<T> out;
  double out_scale = 1;  // backward of keeps_output(): a Drop has multiplied `out` by it
  LayerState* state = nullptr;
  LayerContext context;
};

// How the gradient of a value becomes those of its operands.
enum class GradientFlow : uint8_t {
  kShared,    // an operand's is the value's own, some of its columns, or a multiple (Share)
  kInPlace,   // the one operand's is made in the place of the value's own (BackwardInPlace)
  kComputed,  // the one operand's is computed into other memory (BackwardOperand)
};

// What an operand of a kShared operation gets: columns from `first_column` on, times `factor`.
template <typename T>
struct GradientShare {
  int64_t first_column = 0;
  T factor = T(1);
  bool scaled = false;  // the factor may be other than 1
};

template <typename T>
class Operation {
 public:
  virtual ~Operation() = default;
  virtual GradientFlow flow() const = 0;
  virtual void Collect(std::vector<Parameter<T>*>& /*parameters*/) {}
  virtual std::unique_ptr<LayerState> MakeState() const { return nullptr; }
  // Whether Forward may be given an `out` that is operand 0's memory; then it must be given it whole.
  virtual bool works_in_place() const { return false; }
  // Whether backward reads what forward put out. It may read the operands whatever this says.
  virtual bool keeps_output() const { return false; }
  // Whether the operation does anything; of one that does not the operand is the value.
  virtual bool active(bool /*training*/) const { return true; }

  // out is overwritten.
  virtual void Forward(const OperationCall<T>& /*call*/) {}
  // out += …, where adds().
  virtual bool adds() const { return false; }
  virtual void ForwardAdd(const OperationCall<T>& /*call*/) {}
  // Where sums(): not Forward, but operand by operand, in their order. The first overwrites out (and may be it). One
  // that adds() may add itself instead.
  virtual bool sums() const { return false; }
  virtual void ForwardOperand(const OperationCall<T>& /*call*/, size_t /*operand*/) {}
  // What Forward multiplied kept elements with.
  virtual double scale(bool /*training*/) const { return 1; }

  // In this order, with the same call as Forward: BackwardParameters (adds to the parameters' gradients), and where the
  // operand wants a gradient (`more`) what flow() says. `grad` is changed where scribbles() says so, and by
  // BackwardInPlace.
  virtual bool scribbles() const { return flow() == GradientFlow::kInPlace; }
  virtual void BackwardParameters(const OperationCall<T>& /*call*/, Matrix<T> /*grad*/, bool /*more*/) {}
  virtual GradientShare<T> Share(size_t /*operand*/) const { return {}; }
  virtual void BackwardInPlace(const OperationCall<T>& /*call*/, Matrix<T> /*grad*/) {}
  // `add`, where accumulates(): grad_operand += …; else all its rows are overwritten.
  virtual bool accumulates() const { return false; }
  virtual void BackwardOperand(const OperationCall<T>& /*call*/, Matrix<T> /*grad*/, bool /*add*/,
                               Matrix<T> /*grad_operand*/) {}
};

// Initial weights of one layer: operations draw in the order of the spec.
struct WeightStream {
  Rng rng;
  uint64_t seed = 0;  // of a layer that makes a generator of its own; used where nothing was drawn yet
  bool drawn = false;
  Rng& Draw() {
    drawn = true;
    return rng;
  }
  uint64_t LayerSeed() {
    if (drawn) return rng.Next();
    drawn = true;
    return seed;
  }
};

// What an operation is made from.
struct OperationPlace {
  std::string parameters;        // their prefix
  std::vector<int64_t> in;       // columns of the operands
  int64_t out = 0;               // columns of the value
  SpecShapes::DropKey drop_key;  // of a Drop
  double dropped_before = 0;     // of a Drop after another: the other's probability
  WeightStream* stream = nullptr;
};

template <typename T>
std::unique_ptr<Operation<T>> MakeAggregate(const AggregateSpec& spec);
template <typename T>
std::unique_ptr<Operation<T>> MakeAttention(const AttentionSpec& spec, const OperationPlace& place);
template <typename T>
std::unique_ptr<Operation<T>> MakeLinear(bool bias, LinearSpec::Init init, const OperationPlace& place);
template <typename T>
std::unique_ptr<Operation<T>> MakeNorm(const NormSpec& spec, const OperationPlace& place);
template <typename T>
std::unique_ptr<Operation<T>> MakeActivate(const ActivateSpec& spec);
template <typename T>
std::unique_ptr<Operation<T>> MakeDrop(const DropSpec& spec, const OperationPlace& place);
template <typename T>
std::unique_ptr<Operation<T>> MakeAdd(const AddSpec& spec, const OperationPlace& place);
template <typename T>
std::unique_ptr<Operation<T>> MakeConcat(const OperationPlace& place);

// Every operation that there is.
template <typename T>
std::unique_ptr<Operation<T>> MakeOperation(const OperationSpec& spec, const OperationPlace& place);

}  // namespace hone::gnn
