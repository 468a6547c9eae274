// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/device/cuda/harness/harness.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstring>
#include <iterator>

#include "tuner/device/cuda/memory/tensor_layout.h"
#include "tuner/device/host_tensor_ops.h"
#include "tuner/values/draw_table.h"
#include "tuner/values/slice_digest.h"

extern "C" {
extern const unsigned char hone_cuda_harness_fatbin[];
extern const unsigned long hone_cuda_harness_fatbin_size;
extern const unsigned char hone_cuda_watched_fatbin[];
}

namespace hone {
namespace {

using harness::CompareCounters;
using harness::Divisor;
using harness::DrawArguments;
using harness::Gap;
using harness::GlobalPiece;
using harness::Layout;
using harness::MakeDivisor;

constexpr unsigned kThreads = 256;  // of a block of most harness kernels
constexpr unsigned kDrawThreads = 512;  // of a block that draws values
constexpr int64_t kShortRow = 128;          // elements: a shorter row is the work of one thread
constexpr int64_t kTableSliceElements = 32; // a slice of fewer elements computes its key at each use; a table would
                                            // cost more
constexpr uint64_t kMarkPurpose = 0x3a4c, kScrubPurpose = 0x5c2b, kWatchPurpose = 0x3a7c;
constexpr unsigned kScrubThreads = 1024;
constexpr int64_t kScrubFrames[] = {256, 1024, 4096, 16384};  // bytes of local memory per thread for which there is a
                                                              // kernel
constexpr uint64_t kGateLimitNs = 20'000'000;
constexpr size_t kTableFloats = draw::kQuantiles + 2;

// Returns the dtype's suffix in the names of the harness's kernels.
std::string_view DrawName(DType dtype) {
  switch (dtype) {
    case DType::kFloat64: return "f64";
    case DType::kFloat32: return "f32";
    case DType::kFloat16: return "f16";
    case DType::kBFloat16: return "bf16";
    case DType::kInt64: case DType::kUInt64: return "i64";
    case DType::kInt32: case DType::kUInt32: return "i32";
    case DType::kInt16: return "i16";
    case DType::kInt8: case DType::kUInt8: case DType::kBool: return "i8";
    case DType::kFloat8E4M3: return "e4m3";
    case DType::kFloat8E5M2: return "e5m2";
    case DType::kFloat8E8M0: return "e8m0";
    case DType::kFloat4Pair: return "e2m1x2";
    case DType::kInt4Pair: return "i4x2";
  }
  return "";
}

std::string_view CompareName(DType dtype) {
  if (dtype == DType::kUInt32) return "u32";
  if (dtype == DType::kUInt8 || dtype == DType::kBool) return "u8";
  if (dtype == DType::kUInt64) return "u64";
  return DrawName(dtype);
}

// How a kernel's rows are divided among warps or threads; see the head of harness_kernels.cu.
struct RowWork {
  bool by_thread = false;
  int64_t segment_elements = 0;
  Divisor by_segments{0, 1, 0};
  int64_t rows_per_thread = 1;
  uint64_t blocks = 1;
};

// Returns how the rows of a tensor are divided among threads and blocks: short rows by thread, long ones in segments.
RowWork PlanRows(const Layout& layout, int width, int sm_count) {
  RowWork work;
  const int64_t rows = layout.elements / layout.inner;
  const auto most_blocks = static_cast<uint64_t>(sm_count) * 8;
  if (layout.inner < kShortRow) {
    work.by_thread = true;
    const int64_t outer = rows / layout.slices;
    const int64_t wanted_threads = static_cast<int64_t>(most_blocks) * kThreads;
    work.rows_per_thread = std::clamp<int64_t>(rows / wanted_threads, 1, std::max<int64_t>(outer, 1));
    const int64_t items = (outer + work.rows_per_thread - 1) / work.rows_per_thread * layout.slices;
    work.blocks = std::clamp<uint64_t>(static_cast<uint64_t>(items + kThreads - 1) / kThreads, 1, most_blocks);
    return work;
  }
  const int64_t pass = 32 * width;  // elements that a warp handles in one step
  const int64_t warps = static_cast<int64_t>(most_blocks) * (kThreads / 32);
  const int64_t segments_wanted = std::max<int64_t>(1, warps / rows);
  work.segment_elements = std::max<int64_t>((layout.inner + segments_wanted - 1) / segments_wanted, 4 * pass);
  work.segment_elements = (work.segment_elements + pass - 1) / pass * pass;
  const int64_t segments = (layout.inner + work.segment_elements - 1) / work.segment_elements;
  work.by_segments = MakeDivisor(static_cast<uint64_t>(segments));
  const int64_t items = rows * segments;
  work.blocks = std::clamp<uint64_t>(static_cast<uint64_t>(items + kThreads / 32 - 1) / (kThreads / 32), 1, most_blocks);
  return work;
}

}  // namespace

Harness::Harness(std::shared_ptr<CudaContext> context, const Places& places)
    : context_(std::move(context)), driver_(context_->driver()), sm_count_(places.sm_count),
      flush_bytes_((3 * places.l2_bytes + 15) / 16 * 16), shared_bytes_(places.shared_bytes / 16 * 16),
      scrub_key_(places.key), mark_key_(Keyed(places.key, kMarkPurpose) | 1) {}

Result<std::unique_ptr<Harness>> Harness::Make(std::shared_ptr<CudaContext> context, const Places& places) {
  std::unique_ptr<Harness> harness(new Harness(std::move(context), places));
  CudaContext& c = *harness->context_;
  if (places.watched) {
    // The memory checker makes its preparations when a first module is loaded, and needs files that a confined process cannot open.
    const char* const what = "loading a first kernel (was Hone built for this GPU's architecture?)";
    CUfunction first = nullptr;
    HONE_CUDA_RETURN_IF_ERROR(c.driver(), c.driver().ModuleLoadDataEx(&harness->watched_module_, hone_cuda_watched_fatbin, 0, nullptr, nullptr), what);
    HONE_CUDA_RETURN_IF_ERROR(c.driver(), c.driver().ModuleGetFunction(&first, harness->watched_module_, "hone_separator"), what);
    HONE_CUDA_RETURN_IF_ERROR(c.driver(), c.driver().FuncLoad(first), what);
  } else {
    HONE_RETURN_IF_ERROR(harness->LoadKernels());
  }
  HONE_ASSIGN_OR_RETURN(harness->counters_, c.Allocate(4096));
  HONE_ASSIGN_OR_RETURN(harness->sink_, c.Allocate(4096));
  HONE_ASSIGN_OR_RETURN(harness->tables_, c.Allocate(2 * kTableFloats * sizeof(float)));
  HONE_ASSIGN_OR_RETURN(harness->results_, c.AllocatePinned(1 << 20));
  HONE_ASSIGN_OR_RETURN(harness->gate_, c.AllocatePinned(64));
  *static_cast<unsigned*>(harness->gate_.address()) = 0;
  if (places.watched) {
    HONE_RETURN_IF_ERROR(harness->Fill(harness->sink_.address(), 4096, 0));
    HONE_RETURN_IF_ERROR(c.WaitForHarness("preparing the harness"));
    return harness;
  }
  HONE_ASSIGN_OR_RETURN(harness->flush_, c.Allocate(harness->flush_bytes_));
  for (const char* name : {"hone_gate", "hone_touch", "hone_touch_pages", "hone_separator", "hone_stream", "hone_spin"}) {
    HONE_RETURN_IF_ERROR(harness->FindFunction(name).status());
  }
  HONE_ASSIGN_OR_RETURN(const CUfunction scrub, harness->FindFunction("hone_scrub_shared"));
  HONE_CUDA_RETURN_IF_ERROR(c.driver(),
                            c.driver().FuncSetAttribute(scrub, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                                        static_cast<int>(harness->shared_bytes_)),
                            "asking for all shared memory");
  HONE_RETURN_IF_ERROR(harness->Fill(harness->flush_.address(), harness->flush_bytes_, 0));
  HONE_RETURN_IF_ERROR(c.WaitForHarness("preparing the harness"));
  return harness;
}

Harness::~Harness() {
  if (context_->lost()) return;
  if (module_ != nullptr) driver_.ModuleUnload(module_);
  if (watched_module_ != nullptr) driver_.ModuleUnload(watched_module_);
}

Status Harness::LoadKernels() {
  if (module_ != nullptr) return Status::Ok();
  return CudaStatus(driver_, driver_.ModuleLoadDataEx(&module_, hone_cuda_harness_fatbin, 0, nullptr, nullptr),
                    "loading Hone's own kernels (was Hone built for this GPU's architecture?)");
}

// Returns a kernel of the harness by its name; found once.
Result<CUfunction> Harness::FindFunction(const std::string& name) {
  const auto known = functions_.find(name);
  if (known != functions_.end()) return known->second;
  HONE_RETURN_IF_ERROR(LoadKernels());
  CUfunction function = nullptr;
  HONE_CUDA_RETURN_IF_ERROR(driver_, driver_.ModuleGetFunction(&function, module_, name.c_str()),
                            "finding the harness kernel " + name);
  // Loading is lazy by default and may wait for the device, which must not happen behind a closed gate.
  HONE_CUDA_RETURN_IF_ERROR(driver_, driver_.FuncLoad(function), "loading the harness kernel " + name);
  functions_.emplace(name, function);
  return function;
}

template <typename... Args>
Status Harness::Launch(const std::string& name, uint64_t blocks, unsigned threads, const Args&... args) {
  return LaunchShared(name, blocks, threads, 0, args...);
}

template <typename... Args>
Status Harness::LaunchShared(const std::string& name, uint64_t blocks, unsigned threads, int64_t shared_bytes, const Args&... args) {
  HONE_ASSIGN_OR_RETURN(CUfunction function, FindFunction(name));
  void* pointers[] = {const_cast<void*>(static_cast<const void*>(&args))..., nullptr};
  CUlaunchConfig config{};
  config.gridDimX = static_cast<unsigned>(blocks);
  config.gridDimY = config.gridDimZ = 1;
  config.blockDimX = threads;
  config.blockDimY = config.blockDimZ = 1;
  config.sharedMemBytes = static_cast<unsigned>(shared_bytes);
  config.hStream = context_->stream();
  HONE_CUDA_RETURN_IF_ERROR(driver_, driver_.LaunchKernelEx(&config, function, pointers, nullptr), "launching " + name);
  return Status::Ok();
}

Result<CUdeviceptr> Harness::ReserveScratch(DeviceBlock& block, int64_t bytes) {
  if (block.bytes() < static_cast<size_t>(bytes)) {
    block = DeviceBlock();
    HONE_ASSIGN_OR_RETURN(block, context_->Allocate(bytes));
  }
  return block.address();
}

Result<CUdeviceptr> Harness::SendList(DeviceBlock& block, const void* data, size_t bytes) {
  HONE_ASSIGN_OR_RETURN(CUdeviceptr address, ReserveScratch(block, static_cast<int64_t>(bytes)));
  HONE_RETURN_IF_ERROR(CopyFromHost(address, data, static_cast<int64_t>(bytes)));
  return address;
}

Status Harness::SendTables() {
  if (tables_sent_) return Status::Ok();
  std::array<float, 2 * kTableFloats> both;
  std::copy_n(NormalQuantiles(), kTableFloats, both.begin());
  std::copy_n(ExpQuantiles(), kTableFloats, both.begin() + kTableFloats);
  HONE_RETURN_IF_ERROR(CopyFromHost(tables_.address(), both.data(), sizeof both));
  tables_sent_ = true;
  return Status::Ok();
}

uint64_t Harness::GridFor(uint64_t items, unsigned threads, unsigned blocks_per_sm) const {
  return std::clamp<uint64_t>((items + threads - 1) / threads, 1, static_cast<uint64_t>(sm_count_) * blocks_per_sm);
}

// Draws a tensor's elements on the device.
Status Harness::Draw(const DrawRequest& request) {
  const TensorView& view = request.view;
  if (view.elements == 0) return Status::Ok();
  HONE_ASSIGN_OR_RETURN(const Layout layout, harness::MakeLayout(view));
  HONE_RETURN_IF_ERROR(SendTables());
  DrawArguments arguments{};
  const int64_t slice_elements = view.elements / layout.slices;
  arguments.parameters = MakeParameters(request.values, view.dtype, request.key, request.index_bound, slice_elements,
                                        view.shape.empty() ? 1 : view.shape.back());
  SetMaskLines(request.values, view.shape, view.slice_axis, &arguments.parameters);
  arguments.parameters.pattern_key = request.pattern_key;
  arguments.parameters.sliced = view.slice_axis >= 0;
  arguments.permutation_key = request.permutation_key;
  arguments.quantiles = tables_.as<const float>();
  arguments.exp_quantiles = arguments.quantiles + kTableFloats;
  if (request.redraw_key != 0 && !request.redrawn.empty()) {
    arguments.redraw_key = request.redraw_key;
    arguments.redrawn_count = static_cast<int64_t>(request.redrawn.size());
    HONE_ASSIGN_OR_RETURN(CUdeviceptr list, SendList(lists_, request.redrawn.data(), request.redrawn.size() * sizeof(int64_t)));
    arguments.redrawn = reinterpret_cast<const int64_t*>(list);
  }
  const bool by_slice_number =
      arguments.parameters.kind == draw::kSpecial ||
      (arguments.parameters.kind == draw::kIndex && arguments.parameters.order == draw::kDistinct);
  if (slice_elements >= kTableSliceElements && !by_slice_number &&
      (arguments.redraw_key != 0 || arguments.permutation_key != 0 || arguments.parameters.kind == draw::kConstant)) {
    HONE_ASSIGN_OR_RETURN(CUdeviceptr table, ReserveScratch(slice_table_, layout.slices * 8));
    HONE_RETURN_IF_ERROR(Launch("hone_slice_table", GridFor(static_cast<uint64_t>(layout.slices), kThreads, 8), kThreads,
                                arguments, layout.slices, table));
    arguments.slice_table = reinterpret_cast<const uint64_t*>(table);
  }
  const auto width = static_cast<int>(16 / DTypeBytes(view.dtype));
  // Scale factors (E8M0) are drawn one by one: there is one for a hundred elements of a tensor or more.
  const bool wide = view.dtype != DType::kFloat8E8M0 && harness::CanVectorize(layout, width, DTypeBytes(view.dtype));
  const bool normal = arguments.parameters.kind == draw::kNormal && IsFloating(view.dtype) && view.dtype != DType::kFloat8E8M0 &&
                      !IsPacked(view.dtype);
  const std::string kernel =
      fmt::format("hone_draw_{}{}_x{}", normal ? "normal_" : "", DrawName(view.dtype), wide ? width : 1);
  const RowWork work = PlanRows(layout, wide ? width : 1, sm_count_);
  if (!work.by_thread) {
    arguments.by_segments = work.by_segments;
    arguments.segment_elements = work.segment_elements;
  }
  const uint64_t chunks = static_cast<uint64_t>(view.elements) / static_cast<uint64_t>(wide ? width : 1);
  return Launch(kernel, GridFor(chunks, kDrawThreads, 4), kDrawThreads, layout, arguments);
}

Status Harness::Poison(const TensorView& view) { return FillPattern(view, host::PoisonBits(view.dtype)); }

Status Harness::FillWith(const TensorView& view, const FillSpec& fill) {
  if (view.span_bytes == 0) return Status::Ok();
  if (fill.kind == FillKind::kNan && IsFloating(view.dtype)) return FillPattern(view, host::NanPattern(view.dtype, fill.key));
  return Launch("hone_scramble", GridFor(static_cast<uint64_t>(view.span_bytes) / 8 + 8, kThreads, 8), kThreads, view.address,
                view.span_bytes, fill.key, host::MaskOf(view.dtype, fill.kind));
}

Status Harness::FillPattern(const TensorView& view, uint64_t pattern) {
  if (view.span_bytes == 0) return Status::Ok();
  const auto bytes = static_cast<size_t>(view.span_bytes);
  CUresult result = CUDA_SUCCESS;
  switch (DTypeBytes(view.dtype)) {
    case 1: result = driver_.MemsetD8Async(view.address, static_cast<unsigned char>(pattern), bytes, context_->stream()); break;
    case 2: result = driver_.MemsetD16Async(view.address, static_cast<unsigned short>(pattern), bytes / 2, context_->stream()); break;
    case 4: result = driver_.MemsetD32Async(view.address, static_cast<unsigned>(pattern), bytes / 4, context_->stream()); break;
    default:
      return Launch("hone_fill64", GridFor(bytes / 8, kThreads, 8), kThreads, view.address, static_cast<int64_t>(bytes / 8), pattern);
  }
  return CudaStatus(driver_, result, "poisoning a tensor");
}

Status Harness::Fill(uint64_t address, int64_t bytes, uint8_t value) {
  if (bytes == 0) return Status::Ok();
  return CudaStatus(driver_, driver_.MemsetD8Async(address, value, static_cast<size_t>(bytes), context_->stream()),
                    fmt::format("filling {} bytes", bytes));
}

// Copies slices of a tensor, one behind the other, into a dense one.
Status Harness::Gather(const TensorView& source, const TensorView& destination, const std::vector<int64_t>& slices) {
  if (source.elements == 0 || destination.elements == 0) return Status::Ok();
  HONE_ASSIGN_OR_RETURN(const Layout layout, harness::MakeLayout(source));
  const bool sliced = source.slice_axis >= 0;
  std::vector<int64_t> whole_tensor{0};
  const std::vector<int64_t>& list = sliced ? slices : whole_tensor;
  if (list.empty()) return Status::Ok();
  for (int64_t slice : list) {
    if (slice < 0 || slice >= layout.slices) {
      return Status::InvalidArgument(fmt::format("slice {} of a tensor with {}", slice, layout.slices));
    }
  }
  const int64_t count = static_cast<int64_t>(list.size());
  const int64_t elements = layout.elements / layout.slices * count;
  if (destination.elements != elements) {
    return Status::InvalidArgument(fmt::format("{} elements gathered into a tensor of {}", elements, destination.elements));
  }
  HONE_ASSIGN_OR_RETURN(CUdeviceptr sent, SendList(lists_, list.data(), list.size() * sizeof(int64_t)));
  const int64_t size = DTypeBytes(source.dtype);
  int width = static_cast<int>(16 / size);
  if (!harness::CanVectorize(layout, width, size) || destination.address % 16 != 0) width = 1;
  return Launch(fmt::format("hone_gather_{}", size * width), GridFor(static_cast<uint64_t>(elements / width), kThreads, 8),
                kThreads, layout, destination.address, sent, MakeDivisor(static_cast<uint64_t>(count)), width);
}

// Copies the tables of digest keys to the device, and returns their address.
Result<CUdeviceptr> Harness::SendDigestKeys(uint64_t secret) {
  DigestKeys& keys = digest_keys_;
  if (keys.tables.empty() || keys.secret != secret) {
    keys.tables.resize(digest::kKeys);
    digest::MakeKeys(secret, 4 * (digest::kMostWords - 1), keys.tables.data());
    keys.secret = secret;
    keys.sent = false;
  }
  if (!keys.sent) {
    HONE_RETURN_IF_ERROR(SendList(keys.block, keys.tables.data(), keys.tables.size() * sizeof(uint64_t)).status());
    keys.sent = true;
  }
  return keys.block.address();
}

Status Harness::WipeKeys() {
  if (!digest_keys_.sent) return Status::Ok();
  digest_keys_.sent = false;
  return Fill(digest_keys_.block.address(), static_cast<int64_t>(digest::kKeys * sizeof(uint64_t)), 0);
}

// Enqueues the kernel that adds the digests of a tensor's slices to `sums`.
Status Harness::EnqueueDigest(const TensorView& view, const Layout& layout, CUdeviceptr keys, CUdeviceptr sums) {
  const int64_t size = DTypeBytes(view.dtype);
  int width = static_cast<int>(16 / size);
  if (!harness::CanVectorize(layout, width, size)) width = 1;
  const RowWork work = PlanRows(layout, width, sm_count_);
  if (work.by_thread) {
    return Launch(fmt::format("hone_digest_uint{}_thread", 8 * size), work.blocks, kThreads, layout, keys, sums,
                  work.rows_per_thread);
  }
  return Launch(fmt::format("hone_digest_uint{}_x{}", 8 * size, width), work.blocks, kThreads, layout, keys, sums,
                work.by_segments, work.segment_elements);
}

Result<std::vector<std::vector<uint64_t>>> Harness::Digest(const std::vector<TensorView>& views, uint64_t key) {
  std::vector<Layout> layouts;
  int64_t slices = 0;
  for (const TensorView& view : views) {
    HONE_ASSIGN_OR_RETURN(Layout layout, harness::MakeLayout(view));
    slices += layout.slices;
    layouts.push_back(layout);
  }
  std::vector<uint64_t> slice_digests(static_cast<size_t>(slices), 0);
  HONE_ASSIGN_OR_RETURN(const CUdeviceptr keys, SendDigestKeys(key));
  HONE_ASSIGN_OR_RETURN(const CUdeviceptr sums, ReserveScratch(sums_, slices * 8));
  HONE_RETURN_IF_ERROR(Fill(sums, slices * 8, 0));
  CUdeviceptr at = sums;
  for (size_t i = 0; i < views.size(); ++i) {
    if (views[i].elements > 0) HONE_RETURN_IF_ERROR(EnqueueDigest(views[i], layouts[i], keys, at));
    at += static_cast<CUdeviceptr>(layouts[i].slices * 8);
  }
  HONE_RETURN_IF_ERROR(CopyToHost(slice_digests.data(), sums, slices * 8));
  for (uint64_t& digest : slice_digests) digest = digest::Canonical(digest);
  std::vector<std::vector<uint64_t>> digests;
  auto next_digest = slice_digests.begin();
  for (const Layout& layout : layouts) {
    digests.emplace_back(next_digest, next_digest + layout.slices);
    next_digest += layout.slices;
  }
  return digests;
}

Status Harness::Mark(const std::vector<uint64_t>& addresses, int64_t bytes, CUdeviceptr marks, uint64_t* secret) {
  if (*secret == 0) *secret = digest_keys_.secret != 0 ? digest_keys_.secret : mark_key_;
  TensorView view;
  view.dtype = DType::kInt64;
  view.elements = bytes / 8;
  view.shape = {view.elements};
  view.strides = {1};
  view.span_bytes = bytes;
  HONE_ASSIGN_OR_RETURN(const CUdeviceptr keys, SendDigestKeys(*secret));
  HONE_RETURN_IF_ERROR(Fill(marks, static_cast<int64_t>(addresses.size()) * 8, 0));
  for (size_t i = 0; i < addresses.size(); ++i) {
    view.address = addresses[i];
    HONE_ASSIGN_OR_RETURN(const Layout layout, harness::MakeLayout(view));
    HONE_RETURN_IF_ERROR(EnqueueDigest(view, layout, keys, marks + i * 8));
  }
  return Status::Ok();
}

// Compares an output with its reference, after unpacking it if an element holds two numbers.
Result<Comparison> Harness::Compare(const TensorView& output, uint64_t reference, const Tolerance& tolerance) {
  const harness::Precision precision = host::PrecisionOf(output.dtype);
  if (!IsPacked(output.dtype) || output.elements == 0) return CompareNumbers(output, reference, tolerance, precision);
  HONE_ASSIGN_OR_RETURN(const Layout layout, harness::MakeLayout(output));
  TensorView numbers = output;
  numbers.dtype = DType::kFloat32;
  numbers.elements = 2 * output.elements;
  numbers.span_bytes = numbers.elements * DTypeBytes(numbers.dtype);
  HONE_ASSIGN_OR_RETURN(const DeviceBlock memory, context_->Allocate(numbers.span_bytes));
  numbers.address = memory.address();
  HONE_RETURN_IF_ERROR(Launch(fmt::format("hone_unpack_{}", DrawName(output.dtype)),
                              GridFor(static_cast<uint64_t>(output.elements), kThreads, 8), kThreads, layout,
                              static_cast<CUdeviceptr>(numbers.address)));
  // A last axis that divides the tensor into slices keeps its extent, because both numbers of a byte are of one slice.
  if (numbers.shape.empty() || numbers.slice_axis + 1 == static_cast<int>(numbers.shape.size())) {
    numbers.shape.push_back(2);
  } else {
    numbers.shape.back() *= 2;
  }
  numbers.strides.assign(numbers.shape.size(), 1);
  for (size_t axis = numbers.shape.size() - 1; axis > 0; --axis) {
    numbers.strides[axis - 1] = numbers.strides[axis] * numbers.shape[axis];
  }
  return CompareNumbers(numbers, reference, tolerance, precision);
}

Result<Comparison> Harness::CompareNumbers(const TensorView& output, uint64_t reference, const Tolerance& tolerance,
                                           const harness::Precision& precision) {
  Comparison comparison;
  comparison.total = output.elements;
  if (output.elements == 0) return comparison;
  HONE_ASSIGN_OR_RETURN(const Layout layout, harness::MakeLayout(output));
  const int64_t bytes = layout.slices * 8;
  HONE_ASSIGN_OR_RETURN(CUdeviceptr sums, ReserveScratch(sums_, bytes));
  HONE_RETURN_IF_ERROR(Fill(sums, bytes, 0));
  const RowWork work = PlanRows(layout, 1, sm_count_);
  if (work.by_thread) {
    HONE_RETURN_IF_ERROR(Launch("hone_squares_thread", work.blocks, kThreads, layout, reference, sums, precision,
                                work.rows_per_thread));
  } else {
    HONE_RETURN_IF_ERROR(Launch("hone_squares", work.blocks, kThreads, layout, reference, sums, precision, work.by_segments,
                                work.segment_elements));
  }
  const double slice_elements = static_cast<double>(output.elements / layout.slices);
  const double smallest_normal = harness::SmallestNormal(precision);
  HONE_RETURN_IF_ERROR(Launch("hone_root_mean", GridFor(static_cast<uint64_t>(layout.slices), kThreads, 8), kThreads,
                              sums, layout.slices, slice_elements, std::max(tolerance.floor, smallest_normal)));

  CompareCounters counters{};
  counters.first_wrong = ~0ULL;
  const CUdeviceptr at = counters_.address();
  HONE_RETURN_IF_ERROR(CopyFromHost(at, &counters, sizeof counters));
  HONE_RETURN_IF_ERROR(Launch(fmt::format("hone_compare_{}", CompareName(output.dtype)),
                              GridFor(static_cast<uint64_t>(output.elements), kThreads, 8), kThreads, layout, reference,
                              sums, tolerance.c_max, tolerance.c_small, tolerance.small_floor, tolerance.absolute,
                              harness::UnwrittenOf(host::PoisonBits(output.dtype), precision), precision, at));
  HONE_RETURN_IF_ERROR(CopyToHost(&counters, at, sizeof counters));

  comparison.wrong = static_cast<int64_t>(counters.wrong);
  comparison.unwritten = static_cast<int64_t>(counters.unwritten);
  comparison.non_finite = static_cast<int64_t>(counters.non_finite);
  comparison.max_scaled = std::bit_cast<double>(counters.max_scaled_bits);
  comparison.max_ulp = std::bit_cast<double>(counters.max_ulp_bits);
  comparison.max_small = std::bit_cast<double>(counters.max_small_bits);
  comparison.mean_ulp = counters.sum_ulp / static_cast<double>(output.elements);
  counters.sum_error2 = std::max(0.0, counters.sum_error2 - host::ForgivenSquares(tolerance.absolute, output.elements));
  if (counters.sum_error2 > 0) {
    const double least = static_cast<double>(output.elements) * smallest_normal * smallest_normal;
    const double scale2 = std::max(counters.sum_reference2, least);
    comparison.rms_error = scale2 > 0 ? std::sqrt(counters.sum_error2 / scale2) : INFINITY;
  }
  if (counters.first_wrong != ~0ULL) {
    comparison.first_wrong = static_cast<int64_t>(counters.first_wrong);
    HONE_RETURN_IF_ERROR(CopyToHost(&comparison.first_expected, reference + 8 * counters.first_wrong, 8));
    const int64_t size = DTypeBytes(output.dtype);
    const int64_t offset = harness::Locate(layout, counters.first_wrong).offset;
    std::array<uint8_t, 8> element{};
    HONE_RETURN_IF_ERROR(CopyToHost(element.data(), output.address + static_cast<uint64_t>(offset * size), size));
    comparison.first_actual = host::ReadElement(output.dtype, element.data());
  }
  return comparison;
}

Result<bool> Harness::Differs(uint64_t a, uint64_t b, int64_t bytes) {
  if (bytes == 0) return false;
  HONE_CHECK(b == 0 || (a ^ b) % 16 == 0, "Differs needs addresses of one alignment");
  const CUdeviceptr flag = counters_.address();
  HONE_RETURN_IF_ERROR(Fill(flag, 4, 0));
  const uint64_t words16 = static_cast<uint64_t>(bytes) / 16 + 32;
  HONE_RETURN_IF_ERROR(Launch("hone_differs", GridFor(words16, kThreads, 8), kThreads, a, b, bytes, flag));
  uint32_t different = 0;
  HONE_RETURN_IF_ERROR(CopyToHost(&different, flag, sizeof different));
  return different != 0;
}

namespace {

// Calls `each` with the list in parts that fit a kernel's arguments.
template <typename T, typename Each>
Status InParts(const std::vector<T>& list, Each&& each) {
  for (size_t begin = 0; begin < list.size(); begin += harness::kListed) {
    harness::Listed<T> part{};
    part.count = static_cast<int64_t>(std::min<size_t>(list.size() - begin, harness::kListed));
    std::copy_n(list.begin() + static_cast<std::ptrdiff_t>(begin), part.count, part.items);
    HONE_RETURN_IF_ERROR(each(part));
  }
  return Status::Ok();
}

}  // namespace

Status Harness::FillGaps(const CudaArena& arena) {
  return InParts(arena.gaps(), [&](const harness::Listed<Gap>& gaps) {
    return Launch("hone_gap_fill", static_cast<uint64_t>(gaps.count) * harness::kGapParts, kThreads, arena.base(), gaps, arena.gap_key());
  });
}

Result<std::optional<std::string>> Harness::CheckGaps(const CudaArena& arena) {
  const std::vector<Gap>& gaps = arena.gaps();
  uint64_t first = ~0ULL;
  const CUdeviceptr at = counters_.address();
  HONE_RETURN_IF_ERROR(Fill(at, sizeof first, 0xff));
  HONE_RETURN_IF_ERROR(InParts(gaps, [&](const harness::Listed<Gap>& part) {
    return Launch("hone_gap_check", static_cast<uint64_t>(part.count) * harness::kGapParts, kThreads, arena.base(), part,
                  arena.gap_key(), at);
  }));
  HONE_RETURN_IF_ERROR(CopyToHost(&first, at, sizeof first));
  if (first == ~0ULL) return std::optional<std::string>();

  const auto offset = static_cast<int64_t>(first);
  const auto gap = std::find_if(gaps.begin(), gaps.end(), [&](const Gap& g) { return offset >= g.begin && offset < g.end; });
  HONE_CHECK(gap != gaps.end(), "a damaged byte lies in no gap");
  std::vector<uint8_t> content(static_cast<size_t>(gap->end - gap->begin));
  HONE_RETURN_IF_ERROR(CopyToHost(content.data(), arena.base() + static_cast<uint64_t>(gap->begin),
                                  static_cast<int64_t>(content.size())));
  int64_t damaged = 0;
  for (size_t i = 0; i < content.size(); ++i) {
    damaged += content[i] != harness::GapByte(arena.gap_key(), gap->begin + static_cast<int64_t>(i));
  }
  HONE_RETURN_IF_ERROR(FillGaps(arena));
  return std::optional<std::string>(arena.Describe(static_cast<size_t>(gap - gaps.begin()), offset, damaged));
}

Status Harness::TouchPages(const std::vector<harness::PageRun>& runs, uint64_t granule) {
  return InParts(runs, [&](const harness::Listed<harness::PageRun>& part) {
    return Launch("hone_touch_pages", static_cast<uint64_t>(sm_count_), 1024, part, granule, sink_.address());
  });
}

// For pageable memory the driver copies the source before it returns, so callers may reuse theirs at once.
Status Harness::PutGlobals(const std::vector<GlobalPiece>& pieces, const std::vector<uint8_t>& image) {
  if (pieces.empty()) return Status::Ok();
  HONE_ASSIGN_OR_RETURN(CUdeviceptr list, SendList(lists_, pieces.data(), pieces.size() * sizeof(GlobalPiece)));
  HONE_ASSIGN_OR_RETURN(CUdeviceptr sent, SendList(global_image_, image.data(), image.size()));
  return Launch("hone_globals_put", GridFor(pieces.size(), 1, 32), 32, list, static_cast<int64_t>(pieces.size()), sent);
}

Status Harness::TakeGlobals(const std::vector<GlobalPiece>& pieces, std::vector<uint8_t>* image) {
  if (pieces.empty()) return Status::Ok();
  HONE_ASSIGN_OR_RETURN(CUdeviceptr list, SendList(lists_, pieces.data(), pieces.size() * sizeof(GlobalPiece)));
  HONE_ASSIGN_OR_RETURN(CUdeviceptr globals_copy, ReserveScratch(global_image_, static_cast<int64_t>(image->size())));
  HONE_RETURN_IF_ERROR(Launch("hone_globals_take", GridFor(pieces.size(), 1, 32), 32, list,
                              static_cast<int64_t>(pieces.size()), globals_copy));
  return CopyToHost(image->data(), globals_copy, static_cast<int64_t>(image->size()));
}

Status Harness::CopyFromHost(uint64_t address, const void* source, int64_t bytes) {
  if (bytes == 0) return Status::Ok();
  return CudaStatus(driver_, driver_.MemcpyHtoDAsync(address, source, static_cast<size_t>(bytes), context_->stream()),
                    fmt::format("copying {} bytes to the device", bytes));
}

Status Harness::CopyToHost(void* destination, uint64_t address, int64_t bytes) {
  if (bytes == 0) return Status::Ok();
  const auto size = static_cast<size_t>(bytes);
  const bool staged = size <= results_.bytes();  // for small results, one transfer through pinned memory is faster
  void* target = staged ? results_.address() : destination;
  const std::string what = fmt::format("copying {} bytes from the device", bytes);
  HONE_CUDA_RETURN_IF_ERROR(driver_, driver_.MemcpyDtoHAsync(target, address, size, context_->stream()), what);
  HONE_RETURN_IF_ERROR(context_->WaitForHarness(what));
  if (staged) std::memcpy(destination, target, size);
  return Status::Ok();
}

Status Harness::CopyOnDevice(uint64_t destination, uint64_t source, int64_t bytes) {
  if (bytes == 0) return Status::Ok();
  return CudaStatus(driver_, driver_.MemcpyDtoDAsync(destination, source, static_cast<size_t>(bytes), context_->stream()),
                    fmt::format("copying {} bytes on the device", bytes));
}

Status Harness::Scrub(int64_t local_bytes) {
  const uint64_t scrub_key = Keyed(scrub_key_, kScrubPurpose, ++scrubs_);
  // A block that asks for all shared memory has a multiprocessor to itself, so as many blocks as there are
  // multiprocessors reach all of it.
  HONE_RETURN_IF_ERROR(LaunchShared("hone_scrub_shared", static_cast<uint64_t>(sm_count_), kScrubThreads, shared_bytes_,
                                    scrub_key, static_cast<int>(shared_bytes_ / 16)));
  if (local_bytes <= 0) return Status::Ok();
  // The address of a thread's local memory depends on its place on the multiprocessor and on the size per thread. So as
  // many threads as fit, each with at least the candidate's size, cover everything that the candidate could have
  // written.
  const auto* frame = std::find_if(std::begin(kScrubFrames), std::end(kScrubFrames), [&](int64_t bytes) { return bytes >= local_bytes; });
  if (frame == std::end(kScrubFrames)) --frame;
  return Launch(fmt::format("hone_scrub_local_{}", *frame), static_cast<uint64_t>(sm_count_) * 2, kScrubThreads, scrub_key, sink_.address());
}

Status Harness::Flush() { return ReadRange(flush_.address(), flush_bytes_); }

Status Harness::ReadRange(uint64_t address, int64_t bytes) {
  const uint64_t begin = (address + 15) / 16 * 16;
  const uint64_t end = (address + static_cast<uint64_t>(bytes)) / 16 * 16;
  if (end <= begin) return Status::Ok();
  const auto words16 = static_cast<int64_t>((end - begin) / 16);
  return Launch("hone_touch", GridFor(static_cast<uint64_t>(words16), 512, 4), 512, begin, words16, sink_.address());
}

Status Harness::Separator() { return Launch("hone_separator", 1, 32); }

Status Harness::BeginWatch(size_t views) {
  watch_secret_ = Keyed(mark_key_, kWatchPurpose, ++watches_);
  const auto bytes = static_cast<int64_t>(2 * views * sizeof(uint64_t));
  HONE_ASSIGN_OR_RETURN(const CUdeviceptr sums, ReserveScratch(watched_, bytes));
  HONE_RETURN_IF_ERROR(Fill(sums, bytes, 0));
  // The driver loads a kernel at its first launch, for which it may wait for the stream.
  return Launch("hone_watch", 1, 32, sums, int64_t{0}, watch_secret_, sums);
}

// Enqueues the sums over the tensors' bytes that show whether a launch changed what it may not change. `row`: where
// they go.
Status Harness::Watch(const std::vector<TensorView>& views, int row) {
  CUdeviceptr sum = watched_.address() + static_cast<CUdeviceptr>(row) * views.size() * sizeof(uint64_t);
  for (const TensorView& view : views) {
    if (view.span_bytes > 0) {
      HONE_RETURN_IF_ERROR(Launch("hone_watch", GridFor(static_cast<uint64_t>(view.span_bytes) / 16 + 32, kThreads, 8), kThreads,
                                  view.address, view.span_bytes, watch_secret_, sum));
    }
    sum += sizeof(uint64_t);
  }
  return Status::Ok();
}

Result<bool> Harness::WatchedChanged(size_t views) {
  std::vector<uint64_t> sums(2 * views);
  HONE_RETURN_IF_ERROR(CopyToHost(sums.data(), watched_.address(), static_cast<int64_t>(sums.size() * sizeof(uint64_t))));
  const auto middle = sums.begin() + static_cast<std::ptrdiff_t>(views);
  return !std::equal(sums.begin(), middle, middle);
}

Status Harness::Gate(unsigned expected) {
  return Launch("hone_gate", 1, 1, gate_.address(), expected, kGateLimitNs);
}

void Harness::OpenGate(unsigned expected) {
  std::atomic_ref<unsigned>(*static_cast<unsigned*>(gate_.address())).store(expected, std::memory_order_release);
}

Status Harness::Spin(double seconds) {
  return Launch("hone_spin", static_cast<uint64_t>(sm_count_) * 4, kThreads, static_cast<uint64_t>(seconds * 1e9),
                sink_.address());
}

Status Harness::Stream(bool one_word, uint64_t source, int64_t source_bytes, uint64_t destination, int64_t destination_bytes,
                       double read_bytes, double written_bytes) {
  const auto reads = static_cast<int64_t>(std::ceil(read_bytes / 16)), writes = static_cast<int64_t>(std::ceil(written_bytes / 16));
  const int64_t most = std::max(reads, writes);
  if (most == 0) return Separator();
  if (one_word) {
    return Launch("hone_stream_each", static_cast<uint64_t>((most + kThreads - 1) / kThreads), kThreads, source, destination, reads,
                  writes, MakeDivisor(static_cast<uint64_t>(source_bytes / 16)),
                  MakeDivisor(static_cast<uint64_t>(destination_bytes / 16)));
  }
  // Each thread has four loads in flight if there is enough work to fill every SM several times, fewer otherwise.
  const int64_t enough = static_cast<int64_t>(sm_count_) * 16;
  const int64_t words_per_block = std::clamp<int64_t>((most / enough + kThreads - 1) / kThreads * kThreads, kThreads, 4 * kThreads);
  const int64_t blocks = (most + words_per_block - 1) / words_per_block;
  return Launch("hone_stream", static_cast<uint64_t>(blocks), kThreads, source, destination, reads, writes,
                MakeDivisor(static_cast<uint64_t>(source_bytes / 16)), MakeDivisor(static_cast<uint64_t>(destination_bytes / 16)),
                MakeDivisor(static_cast<uint64_t>(blocks)));
}

}  // namespace hone
