// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// CaseBuffers is the device memory for one case: `sets` disjoint copies of its tensors and of a plan's workspaces,
// guarded by gaps. Beside them lie the harness's own buffers, whose addresses a candidate is never given.
//
// Every draw is a pure function of its keys, so the original content of an in-place tensor can be drawn again after the
// candidate has overwritten it: nothing has to be saved.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "hone/base/status.h"
#include "hone/tuner/task.h"
#include "tuner/device/device_session.h"

namespace hone {

// An InputSet says which values the inputs of one set hold.
struct InputSet {
  uint64_t key = 0;               // secret; tensor keys derive from it
  Distribution stress = Distribution::kNormal;
  bool use_stress = false;        // false: each tensor's own distribution
  std::optional<uint64_t> turn;   // kSpecial: which kind of values row 0 has (draw::PatternKey); nullopt: a secret one
  uint64_t permutation_key = 0;   // not 0: key of the secret order in which the slices lie; 0: they lie as drawn
  uint64_t redraw_key = 0;        // the key that redraws the slices of `redrawn`
  std::vector<int64_t> redrawn;   // sorted indices of slices that are drawn afresh in their places
  const HandWorkedCase* hand =
      nullptr;  // if not null, its values are the inputs and nothing is drawn; owned by the task
  const std::map<std::string, ValueSpec>* values = nullptr;  // keyed by tensor: a case's own distributions, in place of
                                                             // TensorSpec::values; null: none; owned by the task
  std::string name() const;  // "default", "heavy_tailed", …: for messages
};

// Returns whether stress inputs may crowd this tensor of integers: an index tensor then holds few different values, and
// of offsets one row has most elements. They may if the task does not forbid stress; indices must be allowed to repeat,
// and be no mask whose lines must hold a value.
bool TakesIndexStress(const TensorSpec& tensor);

// Returns how `tensor` is drawn for these inputs when no stress distribution replaces its own.
const ValueSpec& ValuesOf(const TensorSpec& tensor, const InputSet& inputs);

// A Placement says how tensors and workspaces lie in memory, on a device that can keep them apart (BlockRequest).
struct Placement {
  bool apart = false;  // each tensor of each set lies alone, at a secret address, with nothing mapped beside it
  bool read_only_inputs = true;   // with `apart`: a candidate that writes an input crashes
  bool mapped_neighbors = false;  // with `apart`: a candidate that reads beside a tensor does not crash
};

class CaseBuffers {
 public:
  // Allocates the buffers of one case.
  //   plans        every plan that will run on these buffers; their workspaces are allocated per set, the largest
  //                request of each name winning
  //   exact_align  bases are aligned as the task promises and no better
  //   gap_key      secret; it chooses the guard zones' pattern, the order in which tensors lie in memory, and the fills
  //   sampled      only sampled launches will run here (BlockRequest::sampled)
  static Result<std::unique_ptr<CaseBuffers>> Make(DeviceSession& session, const Task& task, const Dims& dims,
                                                   const std::vector<const ResolvedPlan*>& plans, int sets,
                                                   bool exact_align, uint64_t gap_key, bool sampled = false,
                                                   const Placement& placement = {});

  // Returns the device bytes that the tensors of one set take; workspaces are not included.
  static Result<int64_t> SetBytes(const Task& task, const Dims& dims);

  int sets() const { return static_cast<int>(bindings_.size()); }
  const Bindings& set(int index) const { return bindings_[static_cast<size_t>(index)]; }
  const Dims& dims() const { return dims_; }
  const TensorShape& shape(const std::string& tensor) const { return shapes_.at(tensor); }
  const std::map<std::string, int64_t>& base_align() const { return base_align_; }
  int64_t slices() const { return slices_; }
  bool sampled() const { return sampled_; }

  // Moves the blocks that lie apart (Placement::apart) to other places, which `key` chooses; some get other addresses.
  // Returns true if blocks were moved: all contents are then lost, and bindings have changed. Returns false where
  // nothing lies apart.
  Result<bool> Rearrange(uint64_t key);
  // Draws every in and inout tensor of set `index`.
  Status DrawInputs(int index, const InputSet& inputs);
  // Restores only what a launch overwrites: inout tensors get their original values, and outputs and workspaces of
  // `plan` are filled with contents that nobody may rely on, or zeroed where the plan asks for that. Call this before
  // every launch. The fills are NaNs, bytes and plausible numbers in turn (FillKind), from a secret start, under secret
  // keys.
  Status PrepareLaunch(int index, const InputSet& inputs, const ResolvedPlan& plan);
  // Sets the secret from which fills follow, instead of the one derived from `gap_key`.
  void UseFillKey(uint64_t key) { fill_key_ = key; }
  // Fills outputs with the fixed poison and workspaces with 0xa5 from now on. Sampled buffers need that, because a
  // launch's cost must repeat; tests use it to show what changing fills catch.
  void UseFixedFills() { fixed_fills_ = true; }
  // Returns whether the element at coordinates `at` of an output still holds the fill of PrepareLaunch. An element
  // narrower than four bytes is compared together with its successors, because a single byte may match by chance.
  Result<bool> StillFilled(int index, const std::string& tensor, const std::vector<int64_t>& at) const;
  Result<std::optional<std::string>> CheckGaps() { return session_.CheckGaps(*arena_); }

  // Draws one tensor of the set that `inputs` describes into `view` (which may lie in other memory).
  Status DrawTensor(const TensorSpec& tensor, const InputSet& inputs, const TensorView& view);
  // Writes the given values into the view, row-major, rounded to its dtype; there is one value for each element. Memory
  // between strided elements keeps its contents.
  static Status WriteTensor(DeviceSession& session, const TensorView& view, const std::vector<double>& values);

 private:
  CaseBuffers(DeviceSession& session, const Task& task, Dims dims) : session_(session), task_(task), dims_(std::move(dims)) {}

  // Puts the arena's addresses into the bindings.
  void Bind();
  // Returns the next fill. The kinds take turns, so that all of them occur soon.
  FillSpec NextFill();
  Status FillWorkspace(const ResolvedWorkspace& workspace, uint64_t address);

  DeviceSession& session_;
  const Task& task_;
  Dims dims_;
  uint64_t fill_key_ = 0;  // secret from which fills follow
  uint64_t fills_ = 0;     // number of fills so far
  bool fixed_fills_ = false;
  std::map<std::string, FillSpec> last_fill_;  // keyed by output; absent: filled with the fixed poison, or never filled
  std::map<std::string, TensorShape> shapes_;
  std::map<std::string, int64_t> base_align_;
  int64_t slices_ = 1;
  bool sampled_ = false;
  std::unique_ptr<Arena> arena_;
  std::vector<int> place_;                     // indexed by block, set after set: the block's number in the arena
  std::map<std::string, size_t> first_block_;  // keyed by tensor or "workspace:NAME": number of its block within a set
  std::vector<std::string> workspace_names_;
  std::vector<Bindings> bindings_;
};

// Returns the byte offset of a dense row-major element in a strided tensor.
int64_t ByteOffset(const TensorView& view, int64_t element);
// Returns a view of `tensor` with `shape`, based at `address`.
TensorView MakeView(const TensorSpec& tensor, const TensorShape& shape, uint64_t address);
// Returns the shape of the same tensor stored densely, row-major.
TensorShape DenseShape(const TensorSpec& tensor, std::vector<int64_t> extents);

// Returns the key of `tensor`: the set's key with the tensor's position in the task mixed in.
uint64_t TensorKey(uint64_t set_key, const Task& task, const TensorSpec& tensor);

}  // namespace hone
