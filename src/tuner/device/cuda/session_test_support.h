// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Provides what the tests of the CUDA session share: a session per process, views and buffers, programs and plans made
// by hand.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "tuner/device/cuda/cuda_session.h"
#include "tuner/device/device_session.h"

namespace hone::test {

// Returns one session for all tests of this process, or the reason why there is none.
inline Result<std::unique_ptr<DeviceSession>>& SharedSession() {
#ifdef HONE_FAKE_DRIVER  // whose globals are among the test program's own
  static Result<std::unique_ptr<DeviceSession>> session = MakeCudaSession({.mark_surroundings = false});
#else
  static Result<std::unique_ptr<DeviceSession>> session = MakeCudaSession({});
#endif
  return session;
}

#define HONE_REQUIRE_SESSION()                                                                     \
  if (!::hone::test::SharedSession().ok()) {                                                       \
    ASSERT_EQ(::hone::test::SharedSession().status().code(), ::hone::StatusCode::kUnavailable)     \
        << ::hone::test::SharedSession().status().message();                                       \
    GTEST_SKIP() << ::hone::test::SharedSession().status().message();                              \
  }                                                                                                \
  ::hone::DeviceSession& session = **::hone::test::SharedSession()

#define HONE_ASSERT_OK(expr)                       \
  do {                                             \
    const ::hone::Status ok_status_ = (expr);      \
    ASSERT_TRUE(ok_status_.ok()) << ok_status_.message(); \
  } while (false)

inline TensorView View(DType dtype, std::vector<int64_t> shape, int slice_axis, std::vector<int64_t> strides = {}) {
  TensorView view;
  view.dtype = dtype;
  if (strides.empty()) {
    strides.resize(shape.size());
    int64_t stride = 1;
    for (size_t i = shape.size(); i-- > 0;) {
      strides[i] = stride;
      stride *= shape[i];
    }
  }
  view.elements = 1;
  int64_t last = 0;
  for (size_t i = 0; i < shape.size(); ++i) {
    view.elements *= shape[i];
    last += (shape[i] - 1) * strides[i];
  }
  view.span_bytes = view.elements == 0 ? 0 : (last + 1) * DTypeBytes(dtype);
  view.shape = std::move(shape);
  view.strides = std::move(strides);
  view.slice_axis = slice_axis;
  return view;
}

// Returns the same view of host memory, which must outlive the view.
inline TensorView OnHost(TensorView view, std::vector<uint8_t>& memory) {
  memory.resize(static_cast<size_t>(view.span_bytes) + 16);
  view.address = (reinterpret_cast<uint64_t>(memory.data()) + 15) / 16 * 16;
  return view;
}

// Allocates device memory for the views, in order; aligned to 256 bytes.
inline std::unique_ptr<Arena> Place(DeviceSession& session, std::vector<TensorView*> views) {
  std::vector<BlockRequest> blocks;
  for (const TensorView* view : views) blocks.push_back({view->span_bytes, 256, false});
  Result<std::unique_ptr<Arena>> arena = session.Allocate(blocks, 4711);
  EXPECT_TRUE(arena.ok()) << arena.status().message();
  if (!arena.ok()) return nullptr;
  for (size_t i = 0; i < views.size(); ++i) views[i]->address = (*arena)->address(i);
  return std::move(*arena);
}

// Places the views like Place, but each in memory of its own, at addresses chosen by `key`. Launches may not write the
// views for which `read_only` is set.
inline std::unique_ptr<Arena> PlaceApart(DeviceSession& session, std::vector<TensorView*> views, std::vector<bool> read_only,
                                         uint64_t key = 4711, bool mapped_neighbors = false) {
  std::vector<BlockRequest> blocks;
  for (size_t i = 0; i < views.size(); ++i) {
    blocks.push_back({.bytes = views[i]->span_bytes, .align = 256, .apart = true, .read_only = read_only[i],
                      .mapped_neighbors = mapped_neighbors});
  }
  Result<std::unique_ptr<Arena>> arena = session.Allocate(blocks, key);
  EXPECT_TRUE(arena.ok()) << arena.status().message();
  if (!arena.ok()) return nullptr;
  for (size_t i = 0; i < views.size(); ++i) views[i]->address = (*arena)->address(i);
  return std::move(*arena);
}

template <typename T>
std::vector<T> Read(DeviceSession& session, const TensorView& view) {
  std::vector<T> values(static_cast<size_t>(view.span_bytes) / sizeof(T));
  const Status status = session.CopyToHost(values.data(), view.address, view.span_bytes);
  EXPECT_TRUE(status.ok()) << status.message();
  return values;
}

template <typename T>
void Write(DeviceSession& session, const TensorView& view, const std::vector<T>& values) {
  ASSERT_EQ(static_cast<int64_t>(values.size() * sizeof(T)), view.span_bytes);
  const Status status = session.CopyFromHost(view.address, values.data(), view.span_bytes);
  EXPECT_TRUE(status.ok()) << status.message();
}

// Makes a program from an image whose kernels have their own names.
inline CompiledProgram Program(std::string image, const std::vector<std::string>& kernels,
                               std::vector<DeviceGlobal> globals = {}) {
  CompiledProgram program;
  CompiledModule module;
  module.image = std::move(image);
  for (const std::string& kernel : kernels) module.lowered[kernel] = kernel;
  module.globals = std::move(globals);
  program.modules[""] = std::move(module);
  return program;
}

inline std::unique_ptr<LoadedProgram> Load(DeviceSession& session, const CompiledProgram& program) {
  Result<DeviceSession::LoadOutcome> loaded = session.Load(program);
  EXPECT_TRUE(loaded.ok()) << loaded.status().message();
  if (!loaded.ok()) return nullptr;
  EXPECT_EQ(loaded->launch.status, LaunchStatus::kOk) << loaded->launch.detail;
  return std::move(loaded->program);
}

inline ResolvedArgument Tensor(std::string name, int64_t byte_offset = 0) {
  ResolvedArgument argument;
  argument.kind = ArgumentKind::kTensor;
  argument.name = std::move(name);
  argument.byte_offset = byte_offset;
  return argument;
}

template <typename T>
ResolvedArgument Value(T value) {
  ResolvedArgument argument;
  argument.kind = ArgumentKind::kInteger;
  argument.bytes.resize(sizeof value);
  std::memcpy(argument.bytes.data(), &value, sizeof value);
  return argument;
}

inline ResolvedStep Step(std::string kernel, std::vector<ResolvedArgument> args, int64_t grid = 1, int64_t block = 32) {
  ResolvedStep step;
  step.kernel = std::move(kernel);
  step.grid[0] = grid;
  step.block[0] = block;
  step.args = std::move(args);
  return step;
}

inline ResolvedStep Memset(std::string target, int64_t value, int64_t bytes) {
  ResolvedStep step;
  step.is_memset = true;
  step.target = std::move(target);
  step.memset_value = value;
  step.memset_bytes = bytes;
  return step;
}

inline ResolvedPlan Plan(std::vector<ResolvedStep> steps) {
  ResolvedPlan plan;
  plan.steps = std::move(steps);
  return plan;
}

inline LaunchOutcome Launch(DeviceSession& session, LoadedProgram& program, const ResolvedPlan& plan,
                            const Bindings& bindings, double limit_seconds = 10) {
  LaunchRequest request;
  request.plan = &plan;
  request.bindings = &bindings;
  request.limit_seconds = limit_seconds;
  Result<LaunchOutcome> outcome = session.Launch(program, request);
  EXPECT_TRUE(outcome.ok()) << outcome.status().message();
  return outcome.ok() ? *outcome : LaunchOutcome{LaunchStatus::kUnsupported, outcome.status().message(), {}, {}};
}

}  // namespace hone::test
