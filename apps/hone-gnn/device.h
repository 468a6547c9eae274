// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// --device and --precision: where a command computes, and why there.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "hone-gnn/gpu.h"
#include "hone/gnn/graph.h"

namespace hone::gnn {

// What a GPU alone heeds is declared with `->group(kOfGpu)`, which sets it apart in --help and lets ChooseDevice tell it
// on the CPU.
inline constexpr char kOfGpu[] = "Heeded by a GPU alone";

struct DeviceFlags {
  std::string device = "auto";
  std::string precision;  // empty: bf16 on a GPU, fp32 on the CPU
  std::string pipeline = "gpu";  // or cpu: who samples and slices a GPU's batches; of what trains
  const CLI::App* command = nullptr;  // whose they are; may have others of kOfGpu
};
void AddDeviceFlags(CLI::App& command, DeviceFlags& flags);
// --features, --cache-rows and --cache-policy, of what trains or predicts.
void AddFeatureFlags(CLI::App& command, FeatureWish& wish);
// --host-memory, likewise.
void AddHostMemoryFlag(CLI::App& command, FeatureWish& wish);
// --pipeline, likewise.
void AddPipelineFlag(CLI::App& command, DeviceFlags& flags);

struct DeviceChoice {
  bool cuda = false;
  bool fp32 = true;
  GpuFacts gpu;
  FeaturePlace features;  // left by `can`
  bool host_batches = false;  // --pipeline cpu, on a GPU
  std::string why;
  std::string unheeded;  // "--features and --cache-rows", given and without meaning on the CPU that `auto` chose

  std::string name() const;                                      // "cpu", "cuda:0"
  const char* precision() const { return fp32 ? "fp32" : "bf16"; }
  std::string Line() const;                                      // for people, the first line of a run
  void AppendTo(nlohmann::json& json) const;
};

// `can`: whether the GPU engine can do what is asked for, as the choice it gets says; asked only where a GPU is there.
// With `auto` a GPU that is not there or cannot is a reason for the CPU; with `cuda` it is the error. What only a GPU
// heeds is an error beside `cpu`.
Result<DeviceChoice> ChooseDevice(const DeviceFlags& flags, const std::function<Status(DeviceChoice&)>& can);

// Says on stderr what is not heeded, if anything.
void WarnOfUnheeded(const DeviceChoice& choice);

// The sizes of graph `name`, before anything of it is loaded. The edges of a synthetic one are those to be expected.
Result<GraphOutline> OutlineOf(const std::string& name);

// The graph, or on a GPU the outline of a synthetic one, which is made there (and sends its features where they belong).
Result<std::shared_ptr<const Graph>> OpenGraphFor(const DeviceChoice& device, const std::string& name,
                                                  const OpenGraphOptions& options, const std::string& split = {});

}  // namespace hone::gnn
