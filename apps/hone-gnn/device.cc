// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "hone-gnn/device.h"

#include <fmt/format.h>

#include <charconv>
#include <nlohmann/json.hpp>

#include "common/command_line.h"
#include "common/standard_output.h"
#include "gnn/graph/container/container_reader.h"
#include "gnn/graph/convert/given_split.h"
#include "gnn/graph/feature_dtype.h"
#include "gnn/graph/synthetic/synthetic_graph.h"
#include "gnn/graph/synthetic/synthetic_shape.h"

namespace hone::gnn {
namespace {

// Returns the number of the GPU that "cuda:N" names, 0 for "cuda" (the first GPU), and -1 for any other text.
int GpuOrdinal(std::string_view device) {
  if (device == "cuda") return 0;
  if (!device.starts_with("cuda:")) return -1;
  device.remove_prefix(5);
  int ordinal = -1;
  const auto [end, error] = std::from_chars(device.data(), device.data() + device.size(), ordinal);
  return error == std::errc() && end == device.data() + device.size() ? ordinal : -1;
}

// Returns "--features and --cache-rows": the GPU's options that were given with another value than their default.
std::string GivenGpuOptions(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_group() != kOfGpu || option->count() == 0) continue;
    if (option->results().front() != option->get_default_str()) names.push_back(option->get_name());
  }
  std::string text;
  for (size_t i = 0; i < names.size(); ++i) text += (i == 0 ? "" : i + 1 < names.size() ? ", " : " and ") + names[i];
  return text;
}

}  // namespace

void AddDeviceFlags(CLI::App& command, DeviceFlags& flags) {
  flags.command = &command;
  command
      .add_option(
          "--device", flags.device,
          "where to compute: auto (a GPU that can do what is asked, else the CPU), cpu, cuda (the first GPU) or "
          "cuda:N")
      ->capture_default_str()
      ->check([](const std::string& text) {
        return text == "auto" || text == "cpu" || GpuOrdinal(text) >= 0
                   ? std::string()
                   : fmt::format("'{}' is no device; use auto, cpu, cuda or cuda:N", text);
      });
  command
      .add_option("--precision", flags.precision,
                  "the number type of activations and matrix products on a GPU: bf16 (the default) or fp32")
      ->check(CLI::IsMember({"bf16", "fp32"}));
}

void AddFeatureFlags(CLI::App& command, FeatureRequest& requested) {
  command
      .add_option(
          "--features", requested.place,
          "where the nodes' features are kept: in the GPU's memory (device), spread over the GPUs of all ranks (peers; "
          "only where several ranks train), in the host's memory (host), or the first of these that fits (auto)")
      ->group(kOfGpu)
      ->capture_default_str()
      ->check(CLI::IsMember({"auto", "device", "peers", "host"}));
  command
      .add_option("--cache-rows", requested.cache_rows,
                  "with host or peers: how many of the most-used rows each GPU caches; by default as many as fit")
      ->group(kOfGpu)
      ->check(kZeroOrMore);
  command
      .add_option("--cache-policy", requested.policy,
                  "how the most-used rows are found: by their probability along the edges (inclusion), or by sampling "
                  "a few epochs (presampling)")
      ->group(kOfGpu)
      ->capture_default_str()
      ->check(CLI::IsMember({"inclusion", "presampling"}));
}

void AddHostMemoryOption(CLI::App& command, FeatureRequest& requested) {
  command
      .add_option("--host-memory", requested.host_gib,
                  "with host: how many GiB of the host's memory the feature rows of all its ranks may take; by default "
                  "what is free")
      ->group(kOfGpu)
      ->check(kAboveZero);
}

void AddPipelineOption(CLI::App& command, DeviceFlags& flags) {
  command
      .add_option("--pipeline", flags.pipeline,
                  "where a GPU's batches are sampled and their features gathered: on the GPU itself (gpu), or on the "
                  "host's cores (cpu)")
      ->group(kOfGpu)
      ->capture_default_str()
      ->check(CLI::IsMember({"gpu", "cpu"}));
  command
      .add_option("--pipeline-without", flags.pipeline_without,
                  "with --pipeline cpu, for measurements: switch these optimisations off, separated by commas: "
                  "sampler, batches, overlap")
      ->group(kOfGpu)
      ->check([](const std::string& text) {
        const Result<HostBatchCuts> cuts = ParseHostBatchCuts(text);
        return cuts.ok() ? std::string() : cuts.status().message();
      });
}

std::string DeviceChoice::name() const { return cuda ? fmt::format("cuda:{}", gpu.ordinal) : "cpu"; }

std::string DeviceChoice::Line() const {
  return fmt::format("device: {}{}, {}; {}{}{}", name(), cuda ? fmt::format(" ({})", gpu.name) : "", precision(), why,
                     features.host    ? "; features in the host's memory"
                     : features.peers ? "; features over the ranks' GPUs"
                                      : "",
                     !host_batches              ? ""
                     : host_cuts.Text().empty() ? "; batches from the host's cores"
                                                : "; batches from the host's cores, without " + host_cuts.Text());
}

void DeviceChoice::AppendTo(nlohmann::json& json) const {
  json["device"] = name();
  json["device_name"] = cuda ? nlohmann::json(gpu.name) : nlohmann::json(nullptr);
  json["device_why"] = why;
  json["precision"] = precision();
  if (!cuda) return;
  json["features"] = features.name();
  json["pipeline"] = host_batches ? "cpu" : "gpu";
  if (host_batches) json["pipeline_without"] = host_cuts.Text();
}

Result<DeviceChoice> ChooseDevice(const DeviceFlags& flags, const std::function<Status(DeviceChoice&)>& try_gpu) {
  DeviceChoice choice;
  HONE_ASSIGN_OR_RETURN(const HostBatchCuts cuts, ParseHostBatchCuts(flags.pipeline_without));
  if (!cuts.Text().empty() && flags.pipeline != "cpu") {
    return Status::InvalidArgument("--pipeline-without: it leaves parts of --pipeline cpu out; say that too");
  }
  const bool wants_bf16 = flags.precision == "bf16";
  const std::string gpu_options = flags.command != nullptr ? GivenGpuOptions(*flags.command) : "";
  if (flags.device == "cpu") {
    if (wants_bf16) {
      return Status::InvalidArgument("--precision bf16 is a GPU's: the CPU computes in fp32; leave it out");
    }
    if (!gpu_options.empty()) {
      return Status::InvalidArgument(
          fmt::format("{}: used by a GPU alone; leave out, or choose another --device than cpu", gpu_options));
    }
    choice.why = "as --device says";
    return choice;
  }
  const bool automatic = flags.device == "auto";
  const Result<GpuFacts> gpu = UseGpu(automatic ? 0 : GpuOrdinal(flags.device));
  Status status = gpu.status();
  if (gpu.ok()) {
    DeviceChoice on_gpu{.cuda = true,
                        .fp32 = flags.precision == "fp32",
                        .gpu = *gpu,
                        .host_batches = flags.pipeline == "cpu",
                        .host_cuts = cuts,
                        .why = automatic ? "--device auto found a GPU that can do this" : "as --device says"};
    status = try_gpu(on_gpu);
    if (status.ok()) return on_gpu;
  }
  if (!automatic) return status;
  if (wants_bf16) {
    return Status(status.code(), fmt::format("--precision bf16 needs a GPU: {}", status.message()));
  }
  // The message has the reason, a colon and the remedy. The remedy is left out here, because a user who chose --device
  // auto did not ask for a GPU; --device cuda shows it.
  const std::string reason = gpu.ok() ? status.message() : status.message().substr(0, status.message().find(": "));
  choice.why = fmt::format("--device auto: {}", reason);
  choice.ignored_options = gpu_options;
  return choice;
}

void WarnOfIgnoredOptions(const DeviceChoice& choice) {
  if (choice.ignored_options.empty()) return;
  hone::PrintError("hone-gnn: warning: {}: ignored on the CPU, which --device auto chose\n", choice.ignored_options);
}

Result<GraphOutline> OutlineOf(const std::string& name) {
  if (!IsSyntheticName(name)) {
    HONE_ASSIGN_OR_RETURN(const ContainerHeader header, ReadContainerHeader(name));
    GraphOutline outline{
        .name = name, .num_nodes = header.num_nodes, .num_edges = header.num_edges, .num_classes = header.num_classes};
    if (const ContainerSection* const features = header.Find(SectionType::kFeatures)) {
      outline.feature_stride_bytes = features->stride_bytes;
      outline.feature_width = features->shape[1];
    }
    if (const ContainerSection* const edges = header.Find(SectionType::kEdgeFeatures)) {
      outline.edge_feature_stride_bytes = edges->stride_bytes;
      outline.edge_feature_width = edges->shape[1];
    }
    if (header.Find(SectionType::kMultiLabels) != nullptr) outline.targets = TargetKind::kMultiLabel;
    if (header.Find(SectionType::kValues) != nullptr) outline.targets = TargetKind::kValues;
    return outline;
  }
  HONE_ASSIGN_OR_RETURN(const SyntheticRequest request, ParseSyntheticName(name));
  double mean_degree = 0,
         cumulative_before = 0;  // expected mean of the degree's distribution: bin k has degrees up to upper[k], and
                                 // the probability of a degree in bins 0 … k is threshold[k] / 2^32
  for (size_t k = 0; k < request.degrees.upper.size(); ++k) {
    const double first = k == 0 ? 1 : request.degrees.upper[k - 1] + 1.0;
    const auto cumulative = static_cast<double>(request.degrees.threshold[k]) / 4294967296.0;
    mean_degree += (cumulative - cumulative_before) * (first + request.degrees.upper[k]) / 2;
    cumulative_before = cumulative;
  }
  const int64_t nodes = request.spec.num_nodes;
  return GraphOutline{.name = name,
                      .num_nodes = nodes,
                      .num_edges = static_cast<int64_t>(mean_degree * static_cast<double>(nodes)),
                      .feature_stride_bytes = FeatureStrideBytes(request.spec.width, request.dtype),
                      .feature_width = request.spec.width,
                      .num_classes = request.spec.num_classes};
}

Result<std::shared_ptr<const Graph>> OpenGraphFor(const DeviceChoice& device, const std::string& name,
                                                  const OpenGraphOptions& options, const std::string& split) {
  if (device.cuda && IsSyntheticName(name) && !split.empty()) {
    return Status::InvalidArgument(
        "--split: a GPU makes a synthetic graph by itself, with its own split; write it to a file first (hone-gnn "
        "generate), or say --device cpu");
  }
  if (device.cuda && IsSyntheticName(name)) return OutlineSyntheticGraph(name, options.threads);
  HONE_ASSIGN_OR_RETURN(std::shared_ptr<const Graph> graph, OpenGraph(name, options));
  return split.empty() ? graph : WithGivenSplit(std::move(graph), split);
}

}  // namespace hone::gnn
