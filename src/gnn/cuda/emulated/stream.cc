// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Implements streams and events of the emulated runtime.
#include "gnn/cuda/emulated/stream.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "gnn/cuda/emulated/device.h"
#include "gnn/cuda/emulated/runtime.h"

namespace hone::gnn::cuda::emulated {
namespace {

constexpr size_t kMostQueued = 256;  // work on one stream before the host has to wait, as on a GPU

std::vector<std::unique_ptr<CUstream_st>>& AllStreams() {
  static std::vector<std::unique_ptr<CUstream_st>> streams;
  return streams;
}
CUstream_st& DefaultStream() {
  static CUstream_st stream;
  return stream;
}

bool HasReadyWork(const CUstream_st& stream) {
  if (stream.queue.empty()) return false;
  const StreamWork& front = stream.queue.front();
  return front.event == nullptr || front.event->reached >= front.record;
}

void RunFront(CUstream_st& stream) {
  StreamWork work = std::move(stream.queue.front());
  stream.queue.pop_front();
  if (work.work && Device::Get().fault == cudaSuccess) work.work();
}

// Runs one piece of work of a stream that can continue; false if none can. In a random order, `wanted` is as likely as
// all other streams together.
bool RunOne(CUstream_st* wanted_stream) {
  std::vector<CUstream_st*> ready;
  for (const auto& stream : AllStreams()) {
    if (HasReadyWork(*stream)) ready.push_back(stream.get());
  }
  if (HasReadyWork(DefaultStream())) ready.push_back(&DefaultStream());
  if (ready.empty()) return false;
  Draw& draw = Device::Get().draw;
  if (wanted_stream != nullptr && HasReadyWork(*wanted_stream) && (Device::Get().order == 0 || (draw() >> 63) != 0)) {
    RunFront(*wanted_stream);
  } else {
    RunFront(*ready[draw.Below(static_cast<uint32_t>(ready.size()))]);
  }
  return true;
}

}  // namespace

CUstream_st* StreamOf(cudaStream_t handle) {
  if (handle == nullptr) return &DefaultStream();
  const auto& streams = AllStreams();
  const auto found = std::find_if(streams.begin(), streams.end(), [handle](const auto& s) { return s.get() == handle; });
  return found == streams.end() ? nullptr : handle;
}

void Drain(CUstream_st& stream) {
  while (!stream.queue.empty() && RunOne(&stream)) {
  }
}
void DrainAll() {
  while (RunOne(nullptr)) {
  }
}
void DrainBlocking() {
  for (const auto& stream : AllStreams()) {
    if (!stream->non_blocking) Drain(*stream);
  }
  Drain(DefaultStream());
}

cudaError_t Submit(CUstream_st& stream, std::function<void()> work, const std::function<GraphNodeFacts()>& describe) {
  if (Device::Get().fault != cudaSuccess) return Return(cudaSuccess);
  if (stream.capture != nullptr) {
    Capture& capture = *stream.capture;
    if (capture.invalid) return Return(cudaErrorStreamCaptureInvalidated);
    capture.nodes.push_back({std::move(work), stream.after, describe ? describe() : GraphNodeFacts()});
    capture.nodes.back().facts.priority = stream.priority;
    stream.after = {capture.nodes.size() - 1};
    return Return(cudaSuccess);
  }
  if (&stream == &DefaultStream()) {
    for (const auto& recording : AllStreams()) {
      if (recording->non_blocking || recording->capture == nullptr) continue;
      recording->capture->invalid = true;
      return Return(cudaErrorStreamCaptureImplicit);
    }
    DrainBlocking();
  }
  stream.queue.push_back({std::move(work), nullptr, 0});
  if (Device::Get().order == 0 || &stream == &DefaultStream()) Drain(stream);
  while (stream.queue.size() > kMostQueued && RunOne(&stream)) {
  }
  return Return(cudaSuccess);
}

cudaError_t Enqueue(cudaStream_t handle, const char* name, std::function<void()> work, std::span<const uint64_t> arguments) {
  const OneCaller turn;
  CUstream_st* const stream = StreamOf(handle);
  if (stream == nullptr) return Return(cudaErrorInvalidResourceHandle);
  auto checked = [name = std::string(name), work = std::move(work)] {
    work();
    Device& device = Device::Get();
    if (const std::string complaint = device.memory.CheckGuards(); !complaint.empty()) {
      device.Fail(cudaErrorIllegalAddress, name + ": " + complaint);
    }
  };
  return Submit(*stream, std::move(checked), [&] {
    GraphNodeFacts facts{.kind = "library", .name = name};
    for (const uint64_t word : arguments) {
      const auto* first_byte = reinterpret_cast<const unsigned char*>(&word);
      facts.arguments.emplace_back(first_byte, first_byte + sizeof word);
    }
    return facts;
  });
}

bool AnyCapture() {
  for (const auto& stream : AllStreams()) {
    if (stream->capture != nullptr) return true;
  }
  return false;
}
void InvalidateCaptures() {
  for (const auto& stream : AllStreams()) {
    if (stream->capture != nullptr) stream->capture->invalid = true;
  }
}

}  // namespace hone::gnn::cuda::emulated

using namespace hone::gnn::cuda::emulated;

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  const OneCaller turn;
  if (flags > cudaStreamNonBlocking) return Return(cudaErrorInvalidValue);
  AllStreams().push_back(std::make_unique<CUstream_st>());
  *stream = AllStreams().back().get();
  (*stream)->non_blocking = flags == cudaStreamNonBlocking;
  return Return(cudaSuccess);
}
cudaError_t cudaStreamCreate(cudaStream_t* stream) { return cudaStreamCreateWithFlags(stream, cudaStreamDefault); }
cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int priority) {
  const OneCaller turn;
  const cudaError_t error = cudaStreamCreateWithFlags(stream, flags);
  if (error == cudaSuccess) (*stream)->priority = priority;
  return error;
}
cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  const OneCaller turn;
  *least = 0;
  *greatest = -5;
  return Return(cudaSuccess);
}
cudaError_t cudaStreamDestroy(cudaStream_t handle) {
  const OneCaller turn;
  CUstream_st* const stream = StreamOf(handle);
  if (handle == nullptr || stream == nullptr) return Return(cudaErrorInvalidResourceHandle);
  Drain(*stream);  // CUDA would finish the work later; here it must not outlive its queue
  auto& streams = AllStreams();
  std::erase_if(streams, [handle](const auto& s) { return s.get() == handle; });
  return Return(cudaSuccess);
}

// Waits for a stream. Waiting for one that records, or for the device while a stream records, invalidates the capture.
cudaError_t cudaStreamSynchronize(cudaStream_t handle) {
  const OneCaller turn;
  CUstream_st* const stream = StreamOf(handle);
  if (stream == nullptr) return Return(cudaErrorInvalidResourceHandle);
  if (stream->capture != nullptr) {
    stream->capture->invalid = true;
    return Return(cudaErrorStreamCaptureUnsupported);
  }
  if (handle == nullptr) DrainBlocking();
  Drain(*stream);
  return Return(cudaSuccess);
}
cudaError_t cudaDeviceSynchronize() {
  const OneCaller turn;
  if (AnyCapture()) {
    InvalidateCaptures();
    return Return(cudaErrorStreamCaptureUnsupported);
  }
  DrainAll();
  return Return(cudaSuccess);
}
cudaError_t cudaStreamQuery(cudaStream_t handle) {
  const OneCaller turn;
  CUstream_st* const stream = StreamOf(handle);
  if (stream == nullptr) return Return(cudaErrorInvalidResourceHandle);
  if (stream->capture != nullptr) {
    stream->capture->invalid = true;
    return Return(cudaErrorStreamCaptureUnsupported);
  }
  RunOne(stream);  // so that a caller that polls comes to an end
  // "Not ready" is a result and no error, so cudaPeekAtLastError does not report it.
  return Device::Get().fault == cudaSuccess && !stream->queue.empty() ? cudaErrorNotReady : Return(cudaSuccess);
}
cudaError_t cudaLaunchHostFunc(cudaStream_t handle, cudaHostFn_t function, void* argument) {
  const OneCaller turn;
  return Enqueue(handle, "a host function", [function, argument] { function(argument); });
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  const OneCaller turn;
  *event = new CUevent_st{std::make_shared<EventState>(), (flags & cudaEventDisableTiming) == 0};
  return Return(cudaSuccess);
}
cudaError_t cudaEventCreate(cudaEvent_t* event) { return cudaEventCreateWithFlags(event, cudaEventDefault); }
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  const OneCaller turn;
  if (event == nullptr) return Return(cudaErrorInvalidResourceHandle);
  delete event;
  return Return(cudaSuccess);
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t handle) {
  const OneCaller turn;
  CUstream_st* const stream = StreamOf(handle);
  if (event == nullptr || stream == nullptr) return Return(cudaErrorInvalidResourceHandle);
  const std::shared_ptr<EventState> state = event->state;
  if (stream->capture != nullptr) {
    if (stream->capture->invalid) return Return(cudaErrorStreamCaptureInvalidated);
    state->capture = stream->capture;
    state->after = stream->after;
    return Return(cudaSuccess);
  }
  state->capture = nullptr;
  state->stream = stream;
  const uint64_t record = ++state->recorded;
  return Submit(*stream, [state, record] {
    state->reached = std::max(state->reached, record);
    state->at = std::chrono::steady_clock::now();
  });
}

cudaError_t cudaStreamWaitEvent(cudaStream_t handle, cudaEvent_t event, unsigned) {
  const OneCaller turn;
  CUstream_st* const stream = StreamOf(handle);
  if (event == nullptr || stream == nullptr) return Return(cudaErrorInvalidResourceHandle);
  const std::shared_ptr<EventState>& state = event->state;
  if (state->capture != nullptr) {
    if (stream->capture != nullptr && stream->capture != state->capture) return Return(cudaErrorStreamCaptureIsolation);
    if (state->capture->invalid || state->capture->origin == nullptr) return Return(cudaErrorStreamCaptureInvalidated);
    if (stream->capture == nullptr) {
      if (handle == nullptr) return Return(cudaErrorStreamCaptureImplicit);
      stream->capture = state->capture;
      stream->capture->streams.push_back(stream);
      stream->after.clear();
    }
    stream->after.insert(stream->after.end(), state->after.begin(), state->after.end());
    std::sort(stream->after.begin(), stream->after.end());
    stream->after.erase(std::unique(stream->after.begin(), stream->after.end()), stream->after.end());
    return Return(cudaSuccess);
  }
  if (stream->capture != nullptr) {
    if (state->recorded == 0) return Return(cudaSuccess);
    stream->capture->invalid = true;  // an event recorded outside of the capture invalidates it
    return Return(cudaErrorStreamCaptureIsolation);
  }
  if (state->recorded > state->reached) stream->queue.push_back({{}, state, state->recorded});
  return Return(cudaSuccess);
}

cudaError_t cudaEventQuery(cudaEvent_t event) {
  const OneCaller turn;
  if (event == nullptr) return Return(cudaErrorInvalidResourceHandle);
  if (event->state->capture != nullptr) return Return(cudaErrorStreamCaptureUnsupported);
  if (event->state->recorded > event->state->reached) RunOne(event->state->stream);
  return Device::Get().fault == cudaSuccess && event->state->recorded > event->state->reached ? cudaErrorNotReady
                                                                                             : Return(cudaSuccess);
}
cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  const OneCaller turn;
  if (event == nullptr) return Return(cudaErrorInvalidResourceHandle);
  if (event->state->capture != nullptr) return Return(cudaErrorStreamCaptureUnsupported);
  while (event->state->recorded > event->state->reached && RunOne(event->state->stream)) {
  }
  return Return(cudaSuccess);
}
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t end) {
  const OneCaller turn;
  if (start == nullptr || end == nullptr || !start->times || !end->times || start->state->recorded == 0 ||
      end->state->recorded == 0) {
    return Return(cudaErrorInvalidResourceHandle);
  }
  if (start->state->recorded > start->state->reached || end->state->recorded > end->state->reached) return cudaErrorNotReady;
  *milliseconds = std::chrono::duration<float, std::milli>(end->state->at - start->state->at).count();
  return Return(cudaSuccess);
}
