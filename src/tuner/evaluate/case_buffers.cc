// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/evaluate/case_buffers.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>

#include "tuner/device/host_tensor_ops.h"
#include "tuner/evaluate/timing/quad_order.h"
#include "tuner/values/draw.h"

namespace hone {
namespace {

// These constants say what a secret is used for. They are hashed in with the secret, so that one use reveals nothing
// about another.
constexpr uint64_t kFillPurpose = 0xf111;
constexpr uint64_t kPatternPurpose = 0x9a77, kCrowdPurpose = 0xc40d, kPowerPurpose = 0x90e5;
constexpr uint64_t kTensorPurpose = 0x7e45;
constexpr uint64_t kGapPurpose = 0x6a95;
// An in-place tensor of a sampled launch that has more bytes than this repeats in memory, and the output written to it
// is not compared.
constexpr int64_t kMostFilledBytes = int64_t{256} << 20;
// Under special values, this share of a tensor of powers of two is NaN, if the task covers NaN.
constexpr double kNanShare = 1.0 / 64;

}  // namespace

std::string InputSet::name() const {
  if (hand != nullptr) return "hand-worked";
  if (values != nullptr) return "the case's own";
  return std::string(use_stress ? DistributionName(stress) : std::string_view("default"));
}

TensorView MakeView(const TensorSpec& tensor, const TensorShape& shape, uint64_t address) {
  TensorView view;
  view.address = address;
  view.dtype = tensor.dtype;
  view.shape = shape.shape;
  view.strides = shape.strides;
  view.elements = shape.elements;
  view.span_bytes = shape.span_bytes;
  view.slice_axis = tensor.slice_axis;
  return view;
}

int64_t ByteOffset(const TensorView& view, int64_t element) {
  int64_t offset = 0;
  for (size_t axis = view.shape.size(); axis-- > 0;) {
    offset += element % view.shape[axis] * view.strides[axis];
    element /= view.shape[axis];
  }
  return offset * DTypeBytes(view.dtype);
}

TensorShape DenseShape(const TensorSpec& tensor, std::vector<int64_t> extents) {
  TensorShape dense;
  dense.shape = std::move(extents);
  dense.strides.resize(dense.shape.size());
  int64_t stride = 1;
  for (size_t i = dense.shape.size(); i-- > 0;) {
    dense.strides[i] = stride;
    stride *= dense.shape[i];
  }
  dense.elements = stride;
  dense.span_bytes = stride * DTypeBytes(tensor.dtype);
  return dense;
}

uint64_t TensorKey(uint64_t set_key, const Task& task, const TensorSpec& tensor) {
  const auto position = static_cast<uint64_t>(&tensor - task.tensors.data());
  return Keyed(set_key, kTensorPurpose, position) | 1;  // never 0
}

Result<int64_t> CaseBuffers::SetBytes(const Task& task, const Dims& dims) {
  int64_t bytes = 0;
  for (const TensorSpec& tensor : task.tensors) {
    if (!tensor.alias.empty()) continue;
    HONE_ASSIGN_OR_RETURN(TensorShape shape, ResolveShape(tensor, dims));
    bytes += shape.span_bytes;
  }
  return bytes;
}

Result<std::unique_ptr<CaseBuffers>> CaseBuffers::Make(DeviceSession& session, const Task& task, const Dims& dims,
                                                       const std::vector<const ResolvedPlan*>& plans, int sets,
                                                       bool exact_align, uint64_t gap_key, bool sampled,
                                                       const Placement& placement) {
  std::unique_ptr<CaseBuffers> buffers(new CaseBuffers(session, task, dims));
  buffers->sampled_ = sampled;
  buffers->fill_key_ = Keyed(gap_key, kFillPurpose, 0);
  // A modelled time must not depend on the seed or on how many launches there were, so the fills are fixed.
  if (sampled) buffers->UseFixedFills();
  std::vector<BlockRequest> blocks;
  for (const TensorSpec& tensor : task.tensors) {
    HONE_ASSIGN_OR_RETURN(TensorShape shape, ResolveShape(tensor, dims));
    if (tensor.slice_axis >= 0) buffers->slices_ = shape.shape[static_cast<size_t>(tensor.slice_axis)];
    buffers->base_align_[tensor.name] = exact_align ? tensor.align : std::max<int64_t>(tensor.align, 256);
    buffers->shapes_.emplace(tensor.name, std::move(shape));
  }

  // Take the largest request of each workspace name over the plans that will run here.
  std::map<std::string, ResolvedWorkspace> workspaces;
  for (const ResolvedPlan* plan : plans) {
    for (const ResolvedWorkspace& workspace : plan->workspaces) {
      ResolvedWorkspace& most = workspaces.try_emplace(workspace.name, workspace).first->second;
      most.bytes = std::max(most.bytes, workspace.bytes);
      most.align = std::max(most.align, workspace.align);
    }
  }

  std::map<std::string, size_t>& first_block = buffers->first_block_;
  for (const auto& [name, workspace] : workspaces) buffers->workspace_names_.push_back(name);
  for (int set = 0; set < sets; ++set) {
    for (const TensorSpec& tensor : task.tensors) {
      if (!tensor.alias.empty()) continue;
      if (set == 0) first_block[tensor.name] = blocks.size();
      const int64_t align = buffers->base_align_[tensor.name];
      // A sampled tensor is a small tile that repeats in memory. Repeated offsets are no valid offsets tensor and would
      // point anywhere; repeated indices are not distinct. Such tensors do not repeat.
      const bool any_contents =
          tensor.values.distribution != Distribution::kOffsets && tensor.values.index_order == IndexOrder::kIndependent;
      // A tensor that launches write does not repeat, so that it can be compared, unless it is so large that filling it
      // would take too long.
      const bool overwritten = std::any_of(task.tensors.begin(), task.tensors.end(),
                                           [&](const TensorSpec& other) { return other.alias == tensor.name; });
      const int64_t bytes = buffers->shapes_.at(tensor.name).span_bytes;
      const bool is_written = tensor.role == TensorRole::kOut ||
                              ((tensor.role == TensorRole::kInOut || overwritten) && bytes <= kMostFilledBytes);
      const bool read_only = tensor.role == TensorRole::kIn && !overwritten;
      blocks.push_back({bytes, align, exact_align, sampled && any_contents, is_written, placement.apart,
                        read_only && placement.read_only_inputs, placement.mapped_neighbors});
    }
    for (const auto& [name, workspace] : workspaces) {
      if (set == 0) first_block["workspace:" + name] = blocks.size();
      blocks.push_back({workspace.bytes, workspace.align, false, sampled, true, placement.apart, false, placement.mapped_neighbors});
    }
  }
  // The address of a tensor among the others must reveal nothing: neither its set nor the purpose of the memory.
  std::vector<BlockRequest> placed(blocks.size());
  std::vector<int>& place = buffers->place_;
  place = SecretOrder(static_cast<int>(blocks.size()), gap_key);
  if (sampled) std::iota(place.begin(), place.end(), 0);
  for (size_t i = 0; i < blocks.size(); ++i) placed[static_cast<size_t>(place[i])] = blocks[i];
  HONE_ASSIGN_OR_RETURN(buffers->arena_, session.Allocate(placed, Keyed(gap_key, kGapPurpose, 0)));
  buffers->bindings_.resize(static_cast<size_t>(sets));
  buffers->Bind();
  return buffers;
}

void CaseBuffers::Bind() {
  const size_t per_set = bindings_.empty() ? 0 : place_.size() / bindings_.size();
  for (size_t set = 0; set < bindings_.size(); ++set) {
    Bindings& bindings = bindings_[set];
    const auto address = [&](const std::string& block) {
      return arena_->address(static_cast<size_t>(place_[per_set * set + first_block_.at(block)]));
    };
    for (const TensorSpec& tensor : task_.tensors) {
      const std::string& owner = tensor.alias.empty() ? tensor.name : tensor.alias;
      bindings.tensors[tensor.name] = MakeView(tensor, shapes_.at(tensor.name), address(owner));
      // A launch may not write an input, unless an output shares its memory.
      const bool shared = std::any_of(task_.tensors.begin(), task_.tensors.end(),
                                      [&](const TensorSpec& other) { return other.alias == tensor.name; });
      if (tensor.role == TensorRole::kIn && !shared) bindings.read_only.insert(tensor.name);
    }
    for (const std::string& name : workspace_names_) bindings.workspaces[name] = address("workspace:" + name);
  }
}

Result<bool> CaseBuffers::Rearrange(uint64_t key) {
  HONE_ASSIGN_OR_RETURN(const bool rearranged, session_.Rearrange(*arena_, key));
  if (rearranged) Bind();
  return rearranged;
}

Status CaseBuffers::WriteTensor(DeviceSession& session, const TensorView& view, const std::vector<double>& values) {
  HONE_CHECK(static_cast<int64_t>(values.size()) == view.elements, "another number of values than elements");
  if (view.elements == 0) return Status::Ok();
  std::vector<char> memory(static_cast<size_t>(view.span_bytes));
  HONE_RETURN_IF_ERROR(session.CopyToHost(memory.data(), view.address, view.span_bytes));
  for (int64_t i = 0; i < view.elements; ++i) {
    host::WriteElement(view.dtype, memory.data() + ByteOffset(view, i), values[static_cast<size_t>(i)]);
  }
  return session.CopyFromHost(view.address, memory.data(), view.span_bytes);
}

const ValueSpec& ValuesOf(const TensorSpec& tensor, const InputSet& inputs) {
  if (inputs.values == nullptr) return tensor.values;
  const auto own = inputs.values->find(tensor.name);
  return own == inputs.values->end() ? tensor.values : own->second;
}

bool TakesIndexStress(const TensorSpec& tensor) {
  if (!tensor.stress || tensor.dtype == DType::kBool || IsFloating(tensor.dtype)) return false;
  if (tensor.values.distribution == Distribution::kOffsets) return true;
  if (tensor.values.distribution != Distribution::kIndex) return false;
  // A mask is an index below 2, and a kernel may rely on each row of a mask letting something through.
  const IndexOrder order = tensor.values.index_order;
  return order == IndexOrder::kIndependent || order == IndexOrder::kAscending ||
         (order == IndexOrder::kMask && tensor.values.guaranteed_value < 0);
}

namespace {

// Restricts an index tensor to few values (one, the least one, or three consecutive ones), so that many entries
// collide. In a large tensor more values are left: a kernel that handles colliding entries one after the other is right,
// and would take seconds. `alone`: no floating-point input is stressed. Where one is, some distributions leave indices
// alone, so that the special rows of that input are reached by many indices.
void CrowdIndices(const InputSet& inputs, bool alone, DrawRequest* request) {
  const auto low = static_cast<int64_t>(request->values.low);
  const int64_t span = request->index_bound - low;
  if (span < 2) return;
  constexpr int64_t kFew = 3;                  // values that are left where stress leaves several
  constexpr int64_t kLargeElements = 1 << 20;  // a tensor of more elements keeps more values
  constexpr int64_t kKeptDivisor = 16;         // namely this part of them
  // A range of at most kFewValues values keeps one for each kMostOfOne elements, if that is less: such values are often
  // counted in few bits, and a GPU that adds one number a cycle at one place takes 10 ms for so many.
  constexpr int64_t kFewValues = 4096, kMostOfOne = 1 << 24;
  int64_t kept_elements = 0;
  switch (inputs.stress) {
    case Distribution::kZero:
    case Distribution::kConstant:
      kept_elements = 1;
      break;
    case Distribution::kHeavyTailed:
      kept_elements = std::min(span, kFew);
      break;
    case Distribution::kSpecial:
    case Distribution::kCancelling:
      if (!alone) return;
      kept_elements = std::min(span, kFew);
      break;
    default: return;
  }
  const int64_t elements = request->view.elements;
  if (elements > kLargeElements) {
    const int64_t sixteenth = span / kKeptDivisor;
    const int64_t least = span > kFewValues ? sixteenth : std::min(sixteenth, (elements + kMostOfOne - 1) / kMostOfOne);
    kept_elements = std::max(kept_elements, least);
  }
  const auto places = static_cast<uint64_t>(span - kept_elements + 1);
  const int64_t first = inputs.stress == Distribution::kZero ? 0 : static_cast<int64_t>(Keyed(inputs.key, kCrowdPurpose, 0) % places);
  request->values.low = static_cast<double>(low + first);
  request->index_bound = low + first + kept_elements;
}

// Gives one row of a CSR structure all elements (the last row, the first, or any) or half of them: a kernel that is
// right for rows of usual lengths only is then wrong. `starts`: offsets in a slice, one more than rows.
void CrowdOffsets(const InputSet& inputs, int64_t starts, DrawRequest* request) {
  const int64_t rows = starts - 1;
  if (rows < 2 || request->index_bound < 2) return;
  // A kernel that takes one thread, warp or block for a row is right, and would take seconds for a longer one.
  constexpr int64_t kLongestRow = 1 << 18;
  const auto any_row = static_cast<int64_t>(Keyed(inputs.key, kCrowdPurpose, 0) % static_cast<uint64_t>(rows));
  int64_t row = any_row, elements = request->index_bound;
  switch (inputs.stress) {
    case Distribution::kZero:
      row = rows - 1;
      break;
    case Distribution::kConstant:
      row = 0;
      break;
    case Distribution::kHeavyTailed: break;
    case Distribution::kSpecial:
    case Distribution::kCancelling:
      elements /= 2;
      break;
    default: return;
  }
  request->values.crowded_row = row;
  request->values.crowded_elements = std::min(elements, kLongestRow);
}

// Stresses a tensor of powers of two (float8_e8m0fnu), which no other distribution of numbers fits: it draws any power of
// the tensor's range, or of the format if the task names no range, so that a kernel that keeps a few bits of an exponent
// is wrong. Cancelling inputs keep the tensor's own values, so that the terms that cancel stay of one size.
// `key`: the tensor's secret.
void StressPowers(Distribution stress, uint64_t key, DrawRequest* request) {
  ValueSpec& values = request->values;
  if (stress == Distribution::kCancelling) return;
  if (values.any_power) {
    values.low = 0x1p-127;
    values.high = 0x1.8p127;  // so that 2^127 is drawn
  }
  switch (stress) {
    case Distribution::kZero:  // the least power
      values.high = 1.5 * values.low;
      break;
    case Distribution::kConstant: {
      const int octaves = std::max(1, static_cast<int>(std::ceil(std::log2(values.high / values.low))));
      values.low = std::ldexp(values.low, static_cast<int>(Keyed(key, kPowerPurpose, 0) % static_cast<uint64_t>(octaves)));
      values.high = 1.5 * values.low;
      break;
    }
    case Distribution::kSpecial:
      if ((values.special & kSpecialNan) != 0) values.padding = kNanShare;
      break;
    default: break;
  }
}

}  // namespace

Status CaseBuffers::DrawTensor(const TensorSpec& tensor, const InputSet& inputs, const TensorView& view) {
  if (inputs.hand != nullptr) return WriteTensor(session_, view, inputs.hand->inputs.at(tensor.name));
  DrawRequest request;
  request.view = view;
  HONE_ASSIGN_OR_RETURN(request.values, ResolveValues(ValuesOf(tensor, inputs), dims_));
  request.key = TensorKey(inputs.key, task_, tensor);
  if (inputs.use_stress && tensor.stress && tensor.dtype == DType::kFloat8E8M0) {
    StressPowers(inputs.stress, request.key, &request);
  } else if (inputs.use_stress && tensor.stress && IsFloating(tensor.dtype)) {
    request.values.distribution = inputs.stress;
  }
  if (tensor.values.index_bound) {
    HONE_ASSIGN_OR_RETURN(request.index_bound, tensor.values.index_bound->Evaluate(dims_));
  }
  if (inputs.use_stress && TakesIndexStress(tensor)) {
    const bool alone = std::none_of(task_.tensors.begin(), task_.tensors.end(), [](const TensorSpec& other) {
      return other.role != TensorRole::kOut && other.stress && IsFloating(other.dtype);
    });
    if (tensor.values.distribution == Distribution::kOffsets) {
      CrowdOffsets(inputs, view.elements / std::max<int64_t>(view.slices(), 1), &request);
    } else {
      CrowdIndices(inputs, alone, &request);
    }
  }
  const uint64_t pattern = Keyed(inputs.key, kPatternPurpose, 0);
  request.pattern_key = draw::PatternKey(pattern, inputs.turn.value_or(pattern >> 8));
  if (tensor.slice_axis >= 0) {
    request.permutation_key = inputs.permutation_key;
    // Indices that are distinct over all slices keep their values: fresh ones would collide with those of slices that
    // stay.
    if (!inputs.redrawn.empty() && tensor.values.index_order != IndexOrder::kDistinct) {
      request.redraw_key = TensorKey(inputs.redraw_key, task_, tensor);
      request.redrawn = inputs.redrawn;
    }
  }
  return session_.Draw(request);
}

Status CaseBuffers::DrawInputs(int index, const InputSet& inputs) {
  for (const TensorSpec& tensor : task_.tensors) {
    if (tensor.role == TensorRole::kOut) continue;
    HONE_RETURN_IF_ERROR(DrawTensor(tensor, inputs, set(index).tensors.at(tensor.name)));
  }
  return Status::Ok();
}

Status CaseBuffers::PrepareLaunch(int index, const InputSet& inputs, const ResolvedPlan& plan) {
  const Bindings& bindings = set(index);
  for (const TensorSpec& tensor : task_.tensors) {
    const TensorView& view = bindings.tensors.at(tensor.name);
    if (tensor.role == TensorRole::kInOut) {
      HONE_RETURN_IF_ERROR(DrawTensor(tensor, inputs, view));
    } else if (tensor.role == TensorRole::kOut) {
      if (tensor.alias.empty()) {
        if (fixed_fills_) {
          HONE_RETURN_IF_ERROR(session_.Poison(view));
        } else {
          const FillSpec fill = NextFill();
          last_fill_[tensor.name] = fill;
          HONE_RETURN_IF_ERROR(session_.FillWith(view, fill));
        }
      } else {
        const TensorSpec* owner = task_.FindTensor(tensor.alias);
        HONE_RETURN_IF_ERROR(DrawTensor(*owner, inputs, bindings.tensors.at(tensor.alias)));
      }
    }
  }
  for (const ResolvedWorkspace& workspace : plan.workspaces) {
    if (workspace.bytes == 0) continue;
    HONE_RETURN_IF_ERROR(FillWorkspace(workspace, bindings.workspaces.at(workspace.name)));
  }
  return Status::Ok();
}

Result<bool> CaseBuffers::StillFilled(int index, const std::string& tensor, const std::vector<int64_t>& at) const {
  constexpr int64_t kEnough = 4;  // bytes
  const auto fill = last_fill_.find(tensor);
  const TensorView& view = set(index).tensors.at(tensor);
  if (fill == last_fill_.end() || at.size() != view.strides.size()) return false;
  int64_t element = 0;
  for (size_t i = 0; i < at.size(); ++i) element += at[i] * view.strides[i];
  const int64_t width = DTypeBytes(view.dtype), begin = element * width;
  const int64_t bytes = std::max(width, std::min(kEnough, view.span_bytes - begin));
  if (bytes < kEnough && width < kEnough) return false;
  std::vector<uint8_t> held(static_cast<size_t>(bytes));
  HONE_RETURN_IF_ERROR(session_.CopyToHost(held.data(), view.address + static_cast<uint64_t>(begin), bytes));
  const uint64_t nan = host::NanPattern(view.dtype, fill->second.key);
  const bool nans = fill->second.kind == FillKind::kNan && IsFloating(view.dtype);
  const harness::FillMask mask = host::MaskOf(view.dtype, fill->second.kind);
  for (int64_t i = 0; i < bytes; ++i) {
    const uint8_t put = nans ? static_cast<uint8_t>(nan >> (8 * (i % width))) : harness::MaskedByte(fill->second.key, mask, begin + i);
    if (held[static_cast<size_t>(i)] != put) return false;
  }
  return true;
}

FillSpec CaseBuffers::NextFill() {
  constexpr FillKind kKinds[] = {FillKind::kNan, FillKind::kBytes, FillKind::kPlausible};
  const uint64_t number = fills_++;
  return {kKinds[(fill_key_ + number) % std::size(kKinds)], Keyed(fill_key_, kFillPurpose, number) | 1};
}

Status CaseBuffers::FillWorkspace(const ResolvedWorkspace& workspace, uint64_t address) {
  if (workspace.zero_on_entry) return session_.Fill(address, workspace.bytes, 0x00);
  if (fixed_fills_) return session_.Fill(address, workspace.bytes, 0xa5);
  constexpr int64_t kWord = 4;
  FillSpec fill = NextFill();
  if (address % kWord != 0 || workspace.bytes < kWord) fill.kind = FillKind::kBytes;
  TensorView view;
  view.address = address;
  view.dtype = fill.kind == FillKind::kBytes ? DType::kUInt8 : DType::kFloat32;
  view.elements = workspace.bytes / DTypeBytes(view.dtype);
  view.span_bytes = view.elements * DTypeBytes(view.dtype);
  view.shape = {view.elements};
  view.strides = {1};
  HONE_RETURN_IF_ERROR(session_.FillWith(view, fill));
  const int64_t bytes_left = workspace.bytes - view.span_bytes;
  if (bytes_left == 0) return Status::Ok();
  return session_.Fill(address + static_cast<uint64_t>(view.span_bytes), bytes_left, static_cast<uint8_t>(fill.key));
}

}  // namespace hone
