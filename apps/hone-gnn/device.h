// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// --device and --precision say where a command computes; this file makes the choice and gives its reason.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "hone-gnn/gpu.h"
#include "hone/gnn/graph.h"

namespace hone::gnn {

// Options that only a GPU uses are declared with `->group(kOfGpu)`, which sets them apart in --help and lets
// ChooseDevice report them on the CPU.
inline constexpr char kOfGpu[] = "Only on a GPU";

struct DeviceFlags {
  std::string device = "auto";
  std::string precision;  // empty: bf16 on a GPU, fp32 on the CPU
  std::string pipeline = "gpu";       // gpu | cpu: for training, the side that samples a GPU's batches and gathers their features
  std::string pipeline_without;       // which parts of that are left out (gnn/batch/host_batch_cuts.h)
  const CLI::App* command = nullptr;  // the command that has these options, and maybe others of kOfGpu
};
void AddDeviceFlags(CLI::App& command, DeviceFlags& flags);
// Adds --features, --cache-rows and --cache-policy to a command that trains or predicts.
void AddFeatureFlags(CLI::App& command, FeatureWish& wish);
// Adds --host-memory to such a command.
void AddHostMemoryFlag(CLI::App& command, FeatureWish& wish);
// Adds --pipeline and --pipeline-without to such a command.
void AddPipelineFlag(CLI::App& command, DeviceFlags& flags);

struct DeviceChoice {
  bool cuda = false;
  bool fp32 = true;
  GpuFacts gpu;
  FeaturePlace features;      // filled in by `can`
  bool host_batches = false;  // --pipeline cpu, on a GPU
  HostBatchCuts host_cuts;    // --pipeline-without
  std::string why;
  std::string unheeded;  // "--features and --cache-rows": given, but without meaning on the CPU that `auto` chose

  std::string name() const;                                      // "cpu", "cuda:0"
  const char* precision() const { return fp32 ? "fp32" : "bf16"; }
  std::string Line() const;  // the first line of a run, for people
  void AppendTo(nlohmann::json& json) const;
};

// Chooses the device. `can` returns whether the GPU engine can do what is asked for on the given choice; it is called
// only where there is a GPU. With `auto`, a GPU that is missing or unsuitable is a reason to take the CPU; with `cuda`
// it is the error. With `cpu`, options that only a GPU uses are an error.
Result<DeviceChoice> ChooseDevice(const DeviceFlags& flags, const std::function<Status(DeviceChoice&)>& can);

// Prints on stderr which options are ignored, if any.
void WarnOfUnheeded(const DeviceChoice& choice);

// Returns the sizes of graph `name`, before any of it is loaded. For a synthetic graph, the number of edges is
// expected.
Result<GraphOutline> OutlineOf(const std::string& name);

// Returns the graph, or on a GPU the outline of a synthetic one, which the GPU makes (and whose features go to their
// place).
Result<std::shared_ptr<const Graph>> OpenGraphFor(const DeviceChoice& device, const std::string& name,
                                                  const OpenGraphOptions& options, const std::string& split = {});

}  // namespace hone::gnn
