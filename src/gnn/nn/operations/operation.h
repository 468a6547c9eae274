// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Defines an operation of a spec on the CPU: forward and backward of one value. The interpreter (spec_model.h) decides
// where the matrices are in memory.
//
// An operation owns its parameters, and nothing that belongs to a batch. What backward needs of forward is in a
// LayerState, in the operands, or in the output if the operation declares that it reads its output again.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/numbers/random.h"
#include "gnn/ops/aggregate.h"
#include "hone/gnn/layer.h"
#include "hone/gnn/model_spec.h"

namespace hone::gnn {

// A block's edges grouped by source, made when a batch's first backward pass asks for them.
class SourcesOfHop {
 public:
  // Called at the start of a batch, whose block has other edges.
  void Forget() { made_ = false; }
  const SourceMajorBlock& Get(const BlockView& block) {
    if (!made_) BySource(block, sources_);
    made_ = true;
    return sources_;
  }

 private:
  SourceMajorBlock sources_;
  bool made_ = false;  // sources_ holds the current block's edges
};

template <typename T>
struct OperationCall {
  BlockView block;  // for an aggregation; its sources are the operand's rows
  SourcesOfHop* sources = nullptr;
  // Operands. Each has at least the rows that the operation reads: as many as `out`, or for an aggregation
  // block.num_src.
  std::span<const Matrix<const T>> operands;
  Matrix<T> out;
  // For backward if keeps_output(): the factor by which a Drop in the same memory has multiplied `out`.
  double out_scale = 1;
  LayerState* state = nullptr;
  LayerContext context;
};

// How the gradients of a value's operands are obtained from the value's own gradient.
enum class GradientFlow : uint8_t {
  kShared,    // an operand's gradient is the value's, or some of its columns, or a multiple (Share)
  kInPlace,   // the gradient of the single operand overwrites the value's (BackwardInPlace)
  kComputed,  // the gradient of the single operand is computed into other memory (BackwardOperand)
};

// An operand's share of the gradient in a kShared operation: its columns begin at `first_column`, and are multiplied by
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
  // Appends the operation's parameters and buffers to the list.
  virtual void Collect(std::vector<Parameter<T>*>& /*parameters*/) {}
  virtual std::unique_ptr<LayerState> MakeState() const { return nullptr; }
  // Returns whether Forward may overwrite operand 0: `out` is then either exactly its memory or does not overlap it.
  virtual bool works_in_place() const { return false; }
  // Returns whether backward reads forward's output. (Backward may read the operands in any case.)
  virtual bool keeps_output() const { return false; }
  // Returns whether the operation changes anything. If not, its value is its operand.
  virtual bool active(bool /*training*/) const { return true; }

  // Overwrites out.
  virtual void Forward(const OperationCall<T>& /*call*/) {}
  // Computes out += …; called only if adds().
  virtual bool adds() const { return false; }
  virtual void ForwardAdd(const OperationCall<T>& /*call*/) {}
  // If sums(), this replaces Forward, and is called for each operand in order. The first call overwrites `out`, which
  // may be the operand's own memory. An operand whose operation adds() may instead be computed directly into `out`.
  virtual bool sums() const { return false; }
  virtual void ForwardOperand(const OperationCall<T>& /*call*/, size_t /*operand*/) {}
  // Returns the factor by which Forward multiplied kept elements.
  virtual double scale(bool /*training*/) const { return 1; }

  // Backward is two calls, with the same OperationCall as Forward. The first is BackwardParameters, which adds to the
  // parameters' gradients. The second, if the operand needs a gradient (`more`), is the function for flow().
  // BackwardInPlace overwrites `grad`; the other backward functions may do so only if overwrites_grad() returns true.
  virtual bool overwrites_grad() const { return flow() == GradientFlow::kInPlace; }
  virtual void BackwardParameters(const OperationCall<T>& /*call*/, Matrix<T> /*grad*/, bool /*more*/) {}
  virtual GradientShare<T> Share(size_t /*operand*/) const { return {}; }
  virtual void BackwardInPlace(const OperationCall<T>& /*call*/, Matrix<T> /*grad*/) {}
  // `add`, which requires accumulates(): grad_operand += …; otherwise all rows of grad_operand are overwritten.
  virtual bool accumulates() const { return false; }
  virtual void BackwardOperand(const OperationCall<T>& /*call*/, Matrix<T> /*grad*/, bool /*add*/,
                               Matrix<T> /*grad_operand*/) {}
};

// The random stream of one layer's initial weights. Operations draw from it in the order of the spec.
struct WeightStream {
  Rng rng;
  uint64_t seed = 0;  // for a layer with a generator of its own; used if nothing was drawn from `rng` yet
  bool drawn = false;
  Rng& Draw() {
    drawn = true;
    return rng;
  }
  // Returns a seed for a layer that has a generator of its own.
  uint64_t LayerSeed() {
    if (drawn) return rng.Next();
    drawn = true;
    return seed;
  }
};

// OperationSetup holds what an operation is made from, besides its spec.
struct OperationSetup {
  std::string parameters;        // prefix of the parameters' names
  std::vector<int64_t> in;       // columns of the operands
  int64_t out = 0;               // columns of the value
  int64_t edge_width = 0;        // columns of the graph's edge features, for a registered operation
  SpecShapes::DropKey drop_key;  // for a Drop, and for a registered operation
  double dropped_before = 0;     // for a Drop whose rows went through another Drop: that one's probability
  WeightStream* stream = nullptr;
};

template <typename T>
std::unique_ptr<Operation<T>> MakeAggregate(const AggregateSpec& spec);
template <typename T>
std::unique_ptr<Operation<T>> MakeAttention(const AttentionSpec& spec, const OperationSetup& setup);
template <typename T>
std::unique_ptr<Operation<T>> MakeLinear(bool bias, LinearSpec::Init init, const OperationSetup& setup);
template <typename T>
std::unique_ptr<Operation<T>> MakeNorm(const NormSpec& spec, const OperationSetup& setup);
template <typename T>
std::unique_ptr<Operation<T>> MakeActivate(const ActivateSpec& spec);
template <typename T>
std::unique_ptr<Operation<T>> MakeDrop(const DropSpec& spec, const OperationSetup& setup);
template <typename T>
std::unique_ptr<Operation<T>> MakeAdd(const AddSpec& spec, const OperationSetup& setup);
template <typename T>
std::unique_ptr<Operation<T>> MakeConcat(const OperationSetup& setup);
template <typename T>
std::unique_ptr<Operation<T>> MakeOwn(const OwnSpec& spec, const OperationSetup& setup);

// Makes an operation of any kind.
template <typename T>
std::unique_ptr<Operation<T>> MakeOperation(const OperationSpec& spec, const OperationSetup& setup);

}  // namespace hone::gnn
