// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Chooses the device on which a command computes, from --device and --precision, and gives the reason for the choice.
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
  std::string device = "auto";  // auto | cpu | cuda | cuda:N
  std::string precision;  // empty: bf16 on a GPU, fp32 on the CPU
  // The side that samples batches and gathers their features in training on a GPU: gpu | cpu.
  std::string pipeline = "gpu";
  std::string pipeline_without;       // parts that --pipeline cpu leaves out (gnn/batch/host_batch_cuts.h)
  const CLI::App* command = nullptr;  // the command that has these options, and maybe others of the group kOfGpu
};
void AddDeviceFlags(CLI::App& command, DeviceFlags& flags);
// Adds --features, --cache-rows and --cache-policy to a command that trains or predicts.
void AddFeatureFlags(CLI::App& command, FeatureRequest& requested);
// Adds --host-memory to such a command.
void AddHostMemoryOption(CLI::App& command, FeatureRequest& requested);
// Adds --pipeline and --pipeline-without to such a command.
void AddPipelineOption(CLI::App& command, DeviceFlags& flags);

struct DeviceChoice {
  bool cuda = false;
  bool fp32 = true;
  GpuFacts gpu;
  FeaturePlace features;      // set by the callback `can` of ChooseDevice
  bool host_batches = false;  // --pipeline cpu, on a GPU
  HostBatchCuts host_cuts;    // --pipeline-without
  std::string why;            // reason for the choice
  // Options that were given but have no meaning on the CPU, which `auto` chose: "--features and --cache-rows".
  std::string ignored_options;

  std::string name() const;                                      // "cpu", "cuda:0"
  const char* precision() const { return fp32 ? "fp32" : "bf16"; }
  std::string Line() const;  // the first line of a run, for people
  void AppendTo(nlohmann::json& json) const;
};

// Chooses the device. `can` returns whether the GPU engine can do what the user wants on the given GPU; it is called
// only if there is a GPU. With `auto`, a GPU that is missing or unsuitable is a reason to take the CPU; with `cuda` it
// is the error. With `cpu`, options that only a GPU uses are an error.
Result<DeviceChoice> ChooseDevice(const DeviceFlags& flags, const std::function<Status(DeviceChoice&)>& can);

// Prints on stderr which options are ignored, if any.
void WarnOfIgnoredOptions(const DeviceChoice& choice);

// Returns the sizes of the graph `name` without loading it. Of a synthetic graph, the number of edges is an
// expectation.
Result<GraphOutline> OutlineOf(const std::string& name);

// Opens the graph. On a GPU, a synthetic graph is returned as an outline; the GPU generates its rows, and its features
// are written to their place directly.
Result<std::shared_ptr<const Graph>> OpenGraphFor(const DeviceChoice& device, const std::string& name,
                                                  const OpenGraphOptions& options, const std::string& split = {});

}  // namespace hone::gnn
