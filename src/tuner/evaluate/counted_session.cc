// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/evaluate/counted_session.h"

#include <chrono>

namespace hone {

class CountedSession::Timed {
 public:
  explicit Timed(Total& total) : total_(total), start_(std::chrono::steady_clock::now()) {}
  ~Timed() {
    total_.seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
    ++total_.calls;
  }

 private:
  Total& total_;
  std::chrono::steady_clock::time_point start_;
};

class CountedSession::Watched {
 public:
  Watched(const CountedSession& session, double limit_seconds) : session_(session) {
    if (session_.watch_) session_.watch_(limit_seconds);
  }
  ~Watched() {
    if (session_.watch_) session_.watch_(0);
  }

 private:
  const CountedSession& session_;
};

#define HONE_TIMED(operation) const Timed timed(totals_[operation])

Result<DeviceSession::LoadOutcome> CountedSession::Load(const CompiledProgram& program) {
  HONE_TIMED(kLoad);
  return inner_.Load(program);
}
Result<bool> CountedSession::GlobalsChanged(LoadedProgram& program) {
  HONE_TIMED(kGlobals);
  return inner_.GlobalsChanged(program);
}
Result<std::unique_ptr<Arena>> CountedSession::Allocate(const std::vector<BlockRequest>& blocks, uint64_t gap_key) {
  HONE_TIMED(kAllocate);
  return inner_.Allocate(blocks, gap_key);
}
Result<std::optional<std::string>> CountedSession::CheckGaps(Arena& arena) {
  HONE_TIMED(kGaps);
  return inner_.CheckGaps(arena);
}
Result<bool> CountedSession::Rearrange(Arena& arena, uint64_t key) {
  HONE_TIMED(kAllocate);
  return inner_.Rearrange(arena, key);
}
Status CountedSession::Draw(const DrawRequest& request) {
  HONE_TIMED(kDraw);
  return inner_.Draw(request);
}
Status CountedSession::Poison(const TensorView& view) {
  HONE_TIMED(kPoison);
  return inner_.Poison(view);
}
Status CountedSession::FillWith(const TensorView& view, const FillSpec& fill) {
  HONE_TIMED(kPoison);
  return inner_.FillWith(view, fill);
}
Status CountedSession::Fill(uint64_t address, int64_t bytes, uint8_t value) {
  HONE_TIMED(kFill);
  return inner_.Fill(address, bytes, value);
}
Result<bool> CountedSession::IsZero(uint64_t address, int64_t bytes) {
  HONE_TIMED(kIsZero);
  return inner_.IsZero(address, bytes);
}
Status CountedSession::CopyFromHost(uint64_t address, const void* source, int64_t bytes) {
  HONE_TIMED(kCopy);
  return inner_.CopyFromHost(address, source, bytes);
}
Status CountedSession::CopyToHost(void* destination, uint64_t address, int64_t bytes) {
  HONE_TIMED(kCopy);
  return inner_.CopyToHost(destination, address, bytes);
}
Status CountedSession::CopyOnDevice(uint64_t destination, uint64_t source, int64_t bytes) {
  HONE_TIMED(kCopy);
  return inner_.CopyOnDevice(destination, source, bytes);
}
Status CountedSession::WaitForCopies() {
  HONE_TIMED(kCopy);
  return inner_.WaitForCopies();
}
Status CountedSession::GatherSlices(const TensorView& source, const TensorView& destination, const std::vector<int64_t>& slices) {
  HONE_TIMED(kGather);
  return inner_.GatherSlices(source, destination, slices);
}
Status CountedSession::GatherBox(const TensorView& source, const TensorView& destination,
                                 const KeptIndices& kept_indices) {
  HONE_TIMED(kGather);
  return inner_.GatherBox(source, destination, kept_indices);
}
Result<LaunchOutcome> CountedSession::Launch(LoadedProgram& program, const LaunchRequest& request) {
  HONE_TIMED(kLaunch);
  const Watched watched(*this, request.limit_seconds);
  return inner_.Launch(program, request);
}
Result<Comparison> CountedSession::Compare(const TensorView& output, uint64_t reference, const Tolerance& tolerance) {
  HONE_TIMED(kCompare);
  return inner_.Compare(output, reference, tolerance);
}
Result<std::vector<uint64_t>> CountedSession::Digest(const TensorView& view, uint64_t key) {
  HONE_TIMED(kDigest);
  return inner_.Digest(view, key);
}
Result<std::vector<std::vector<uint64_t>>> CountedSession::DigestMany(const std::vector<TensorView>& views, uint64_t key) {
  HONE_TIMED(kDigest);
  return inner_.DigestMany(views, key);
}
Result<SampleOutcome> CountedSession::TimeSample(const SampleRequest& request) {
  HONE_TIMED(kSample);
  // A sample may take a second more than its launches' limit, for raising clocks and preparing caches.
  const Watched watched(*this, request.limit_seconds + 1);
  return inner_.TimeSample(request);
}
Result<double> CountedSession::TimeFloor(const Traffic& traffic, int sets, CacheState cache) {
  HONE_TIMED(kFloor);
  return inner_.TimeFloor(traffic, sets, cache);
}
Result<DeviceCondition> CountedSession::Condition() {
  HONE_TIMED(kCondition);
  return inner_.Condition();
}

void CountedSession::AddTo(std::map<std::string, double>& metrics) const {
  static constexpr std::array<const char*, kOperations> kNames = {
      "load", "globals", "allocate", "gaps", "draw", "poison", "fill", "is_zero", "copy", "gather", "launch", "compare",
      "digest", "sample", "floor", "condition"};
  for (size_t i = 0; i < kNames.size(); ++i) {
    if (totals_[i].calls == 0) continue;
    metrics[std::string("session_seconds.") + kNames[i]] += totals_[i].seconds;
    metrics[std::string("session_calls.") + kNames[i]] += static_cast<double>(totals_[i].calls);
  }
}

}  // namespace hone
