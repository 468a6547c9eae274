// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Defines an operation of a spec on the CPU: forward and backward of one value, over matrices that the interpreter
// (spec_model.h) places.
//
// An operation owns parameters and nothing of a batch; what backward needs of forward is in a LayerState, in the
// operands, or in the output if the operation declares that it reads the output again.
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

// The edges of one row set by source, made when a batch's first backward pass asks for them.
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
  BlockView block;  // for an aggregation; its sources are the operand's rows
  SourcesOfHop* sources = nullptr;
  // Each has at least the rows that the operation reads: as many as `out`, or for an aggregation block.num_src.
  std::span<const Matrix<const T>> operands;
  Matrix<T> out;
  double out_scale = 1;  // backward of keeps_output(): the factor with which a Drop has multiplied `out`
  LayerState* state = nullptr;
  LayerContext context;
};

// How the gradients of a value's operands follow from its own.
enum class GradientFlow : uint8_t {
  kShared,    // an operand's gradient is the value's own, some of its columns, or a multiple (Share)
  kInPlace,   // the single operand's gradient overwrites the value's own (BackwardInPlace)
  kComputed,  // the single operand's gradient is computed into other memory (BackwardOperand)
};

// The share of the gradient that an operand of a kShared operation receives: columns from `first_column` on, times
// `factor`.
template <typename T>
struct GradientShare {
  int64_t first_column = 0;
  T factor = T(1);
  bool scaled = false;  // the factor may differ from 1
};

template <typename T>
class Operation {
 public:
  virtual ~Operation() = default;
  virtual GradientFlow flow() const = 0;
  virtual void Collect(std::vector<Parameter<T>*>& /*parameters*/) {}
  virtual std::unique_ptr<LayerState> MakeState() const { return nullptr; }
  // Returns whether `out` of Forward may be operand 0's memory, then exactly.
  virtual bool works_in_place() const { return false; }
  // Returns whether backward reads forward's output. Backward may always read the operands.
  virtual bool keeps_output() const { return false; }
  // Returns whether the operation has an effect; otherwise its value is its operand.
  virtual bool active(bool /*training*/) const { return true; }

  // Overwrites out.
  virtual void Forward(const OperationCall<T>& /*call*/) {}
  // out += …; only if adds().
  virtual bool adds() const { return false; }
  virtual void ForwardAdd(const OperationCall<T>& /*call*/) {}
  // If sums(), replaces Forward and is called for each operand in order. The first call overwrites out (and may get it
  // as its operand). An operand that adds() may add itself instead.
  virtual bool sums() const { return false; }
  virtual void ForwardOperand(const OperationCall<T>& /*call*/, size_t /*operand*/) {}
  // Returns the factor with which Forward multiplied kept elements.
  virtual double scale(bool /*training*/) const { return 1; }

  // Called in this order, with the same call as Forward: BackwardParameters (adds to the parameters' gradients), and if
  // the operand needs a gradient (`more`) the function for flow(). `grad` is changed if scribbles() says so, and by
  // BackwardInPlace.
  virtual bool scribbles() const { return flow() == GradientFlow::kInPlace; }
  virtual void BackwardParameters(const OperationCall<T>& /*call*/, Matrix<T> /*grad*/, bool /*more*/) {}
  virtual GradientShare<T> Share(size_t /*operand*/) const { return {}; }
  virtual void BackwardInPlace(const OperationCall<T>& /*call*/, Matrix<T> /*grad*/) {}
  // `add`, only if accumulates(): grad_operand += …; else all its rows are overwritten.
  virtual bool accumulates() const { return false; }
  virtual void BackwardOperand(const OperationCall<T>& /*call*/, Matrix<T> /*grad*/, bool /*add*/,
                               Matrix<T> /*grad_operand*/) {}
};

// The random stream for one layer's initial weights: operations draw in the order of the spec.
struct WeightStream {
  Rng rng;
  uint64_t seed = 0;  // seed for a layer with its own generator; used if nothing was drawn yet
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

// Arguments from which an operation is made.
struct OperationPlace {
  std::string parameters;        // prefix of the parameters' names
  std::vector<int64_t> in;       // columns of the operands
  int64_t out = 0;               // columns of the value
  SpecShapes::DropKey drop_key;  // for a Drop, and an operation of one's own
  double dropped_before = 0;     // for a Drop after another Drop: the other's probability
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
template <typename T>
std::unique_ptr<Operation<T>> MakeOwn(const OwnSpec& spec, const OperationPlace& place);

// Makes an operation of any kind.
template <typename T>
std::unique_ptr<Operation<T>> MakeOperation(const OperationSpec& spec, const OperationPlace& place);

}  // namespace hone::gnn
