// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/evaluate/judge/problem_parts.h"

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "tuner/core/task/tensor_roles.h"
#include "tuner/evaluate/judge/judge_policy.h"

namespace hone {
namespace {

bool MentionsDimension(const Expression& expression, const std::string& dimension) {
  const std::vector<std::string> names = expression.Names();
  return std::find(names.begin(), names.end(), dimension) != names.end();
}
bool MentionsDimension(const std::optional<Expression>& expression, const std::string& dimension) {
  return expression && MentionsDimension(*expression, dimension);
}

// Returns the axis of `tensor` whose extent is `dimension`; -1: none.
int AxisOf(const TensorSpec& tensor, const std::string& dimension) {
  for (size_t axis = 0; axis < tensor.shape.size(); ++axis) {
    if (tensor.shape[axis].text() == dimension) return static_cast<int>(axis);
  }
  return -1;
}

// Returns whether the task's text allows `dimension` to be one along which outputs are independent.
bool MayBeIndependent(const Task& task, const std::string& dimension) {
  for (const TensorSpec& tensor : task.tensors) {
    int axes = 0;
    for (const Expression& extent : tensor.shape) {
      const bool is_dimension_itself = extent.text() == dimension;
      if (!is_dimension_itself && MentionsDimension(extent, dimension)) return false;
      axes += is_dimension_itself ? 1 : 0;
    }
    if (axes > 1 || !tensor.strides.empty()) return false;
    if (IsOutput(tensor) && (axes != 1 || tensor.slice_axis < 0)) return false;
    const ValueSpec& values = tensor.values;
    for (const std::optional<Expression>* text :
         {&values.index_bound, &values.low_text, &values.high_text, &values.scale_text, &values.offset_text}) {
      if (MentionsDimension(*text, dimension)) return false;
    }
  }
  return true;
}

// Returns whether outputs are independent along `dimension` in a case of these dimensions
// (OracleChecker::IsIndependent).
Result<bool> ProvenIn(Judgement& judgement, const Dims& dims, const std::string& dimension) {
  HONE_ASSIGN_OR_RETURN(std::unique_ptr<CaseBuffers> buffers,
                        judgement.MakeBuffers(dims, {}, /*sets=*/1, /*exact_align=*/false));
  const InputSet inputs{.key = judgement.secrets.NextOdd()};
  HONE_RETURN_IF_ERROR(buffers->DrawInputs(0, inputs));
  ProblemPart part{.slices = {}, .dimension = dimension, .indices = {}};
  for (int64_t slice = 0; slice < buffers->slices(); ++slice) part.slices.push_back(slice);
  const int64_t extent = dims.at(dimension);
  for (int64_t index = 0; index < extent; ++index) {
    if (judgement.secrets.Next() % 2 == 0) part.indices.push_back(index);
  }
  if (part.indices.empty()) part.indices.push_back(extent - 1);
  OracleChecker checker = judgement.MakeChecker();
  return checker.IsIndependent(*buffers, 0, inputs, part);
}

// Returns up to `count` of `candidates`, drawn secretly, ascending.
std::vector<int64_t> DrawnOf(Judgement& judgement, std::vector<int64_t> candidates, size_t count) {
  for (size_t i = 0; i < candidates.size() && i < count; ++i) {
    std::swap(candidates[i], candidates[i + judgement.secrets.Next() % (candidates.size() - i)]);
  }
  candidates.resize(std::min(candidates.size(), count));
  std::sort(candidates.begin(), candidates.end());
  return candidates;
}

// WrittenElements are the elements of one output that a sample of blocks has written.
class WrittenElements {
 public:
  explicit WrittenElements(ElementRuns runs) : runs_(std::move(runs)) {
    for (const auto& [first, last] : runs_) {
      before_.push_back(count_);
      count_ += last - first;
    }
  }
  int64_t count() const { return count_; }
  // Returns the element offset of the written element `number`, which is below count().
  int64_t At(int64_t number) const {
    const auto run = std::upper_bound(before_.begin(), before_.end(), number) - before_.begin() - 1;
    return runs_[static_cast<size_t>(run)].first + number - before_[static_cast<size_t>(run)];
  }
  bool IsWritten(int64_t offset) const {
    auto after =
        std::upper_bound(runs_.begin(), runs_.end(), offset, [](int64_t a, const auto& run) { return a < run.first; });
    return after != runs_.begin() && (--after)->second > offset;
  }

 private:
  ElementRuns runs_;
  std::vector<int64_t> before_;  // indexed by run: number of written elements in all earlier runs
  int64_t count_ = 0;
};

// Returns up to `count` indices of an axis, `index` among them, at which the sample has written an element. They are
// drawn near `index`, where the same block of a tiled kernel writes, and farther away.
std::vector<int64_t> WrittenAround(Judgement& judgement, const WrittenElements& written, int64_t offset, int64_t index,
                                   int64_t extent, int64_t stride, int64_t count) {
  std::set<int64_t> indices{index};
  constexpr int64_t kReach[] = {8, 32, 128, 1024};
  for (int64_t attempt = 0; attempt < 8 * count && static_cast<int64_t>(indices.size()) < count; ++attempt) {
    const int64_t reach = kReach[attempt % 4];
    const int64_t other =
        index - reach + static_cast<int64_t>(judgement.secrets.Next() % static_cast<uint64_t>(2 * reach + 1));
    if (other < 0 || other >= extent || !written.IsWritten(offset + (other - index) * stride)) continue;
    indices.insert(other);
  }
  return {indices.begin(), indices.end()};
}

}  // namespace

Result<std::string> IndependentDimension(Judgement& judgement) {
  if (judgement.independent_dimension) return *judgement.independent_dimension;
  std::string& independent_dimension = judgement.independent_dimension.emplace();
  const Task& task = judgement.task;
  if (task.slice.empty() || judgement.request.reference != nullptr || !PropertiesOf(task).empty())
    return independent_dimension;
  int64_t largest_size = 1;
  for (const auto& [dimension, description] : task.dims) {
    if (dimension == task.slice || !MayBeIndependent(task, dimension)) continue;
    // The proof is the stronger, the larger the check case is, so take the largest that is cheap.
    const Case* best = nullptr;
    int64_t most = 0, extent = 0;
    for (const Case& c : task.cases) {
      if (c.role == CaseRole::kTime) extent = std::max(extent, c.dims.at(dimension));
      if (c.role != CaseRole::kCheck || c.dims.at(dimension) < 4) continue;
      const Result<int64_t> bytes = CaseBuffers::SetBytes(task, c.dims);
      const Result<double> flops = Flops(task, c.dims);
      if (!bytes.ok() || *bytes > policy::kProofBytes || !flops.ok() || *flops > policy::kProofFlops || *bytes <= most)
        continue;
      best = &c;
      most = *bytes;
    }
    if (best == nullptr || extent <= largest_size) continue;
    HONE_ASSIGN_OR_RETURN(const bool proven, ProvenIn(judgement, best->dims, dimension));
    if (!proven) continue;
    independent_dimension = dimension;
    largest_size = extent;
  }
  return independent_dimension;
}

Result<std::vector<ProblemPart>> DrawParts(Judgement& judgement, const CaseBuffers& buffers,
                                           const std::vector<int64_t>& written_slices, double share) {
  const Task& task = judgement.task;
  const double slices = static_cast<double>(std::max<int64_t>(1, buffers.slices()));
  double elements = 0;
  for (const TensorSpec& tensor : task.tensors) {
    if (tensor.slice_axis >= 0) elements += static_cast<double>(buffers.shape(tensor.name).elements);
  }
  elements = std::max(1.0, elements / slices);
  const Result<double> all_flops = Flops(task, buffers.dims());
  const double flops = all_flops.ok() ? *all_flops / slices : 0;
  double most = share * policy::kSampledElements / elements;
  if (flops > 0) most = std::min(most, share * policy::kSampledFlops / flops);
  if (share >= 1 && most < policy::kFewSlices && most * policy::kFewSlicesShare >= policy::kFewSlices)
    most = policy::kFewSlices;
  const auto affordable = static_cast<size_t>(std::clamp(most, 1.0, static_cast<double>(policy::kMostSampledSlices)));
  std::vector<ProblemPart> parts;
  const auto whole_slices = [&] {
    parts.push_back({.slices = DrawnOf(judgement, written_slices, affordable), .dimension = {}, .indices = {}});
    return parts;
  };
  if (affordable >= std::min<size_t>(written_slices.size(), policy::kMostSampledSlices) ||
      !judgement.request.gates.parts_when_modelled) {
    return whole_slices();
  }
  HONE_ASSIGN_OR_RETURN(const std::string dimension, IndependentDimension(judgement));
  if (dimension.empty()) return whole_slices();
  const auto output = std::find_if(task.tensors.begin(), task.tensors.end(), [&](const TensorSpec& tensor) {
    return IsOutput(tensor) && task.tolerance.contains(tensor.name) && tensor.slice_axis >= 0 &&
           AxisOf(tensor, dimension) >= 0;
  });
  if (output == task.tensors.end()) return whole_slices();
  const TensorView& view = buffers.set(0).tensors.at(output->name);
  HONE_ASSIGN_OR_RETURN(ElementRuns runs, judgement.session.Written(view));
  const WrittenElements of_output(std::move(runs));
  if (of_output.count() == 0) return whole_slices();
  const auto slice_axis = static_cast<size_t>(output->slice_axis),
             axis = static_cast<size_t>(AxisOf(*output, dimension));
  const int64_t extent = view.shape[axis], stride = view.strides[axis];
  const int64_t slice_extent = view.shape[slice_axis], slice_stride = view.strides[slice_axis];
  // A part is smaller where the sample has written few neighbors of its element, and then more parts are drawn: a share
  // of the slices that is wrong must be met by one of them.
  const double budget = std::max(most, 2.0 * policy::kPartSlices * policy::kPartIndices / static_cast<double>(std::max<int64_t>(1, extent)));
  double spent = 0;
  size_t slices_drawn = 0;
  while (parts.size() < policy::kMostSmallParts && slices_drawn < policy::kMostParts * policy::kPartSlices && spent < budget) {
    const int64_t offset =
        of_output.At(static_cast<int64_t>(judgement.secrets.Next() % static_cast<uint64_t>(of_output.count())));
    const int64_t index = offset / stride % extent, slice = offset / slice_stride % slice_extent;
    parts.push_back(
        {.slices = WrittenAround(judgement, of_output, offset, slice, slice_extent, slice_stride, policy::kPartSlices),
         .dimension = dimension,
         .indices = WrittenAround(judgement, of_output, offset, index, extent, stride, policy::kPartIndices)});
    slices_drawn += parts.back().slices.size();
    spent += static_cast<double>(parts.back().slices.size() * parts.back().indices.size()) / static_cast<double>(std::max<int64_t>(1, extent));
  }
  return parts;
}

}  // namespace hone
