// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "hone-gnn/device.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>

#include "gnn/graph/container_reader.h"
#include "gnn/graph/feature_dtype.h"
#include "gnn/graph/synthetic_graph.h"
#include "gnn/graph/synthetic_shape.h"

namespace hone::gnn {
namespace {

// -1: not a GPU's name. "cuda" is the first one.
int GpuOrdinal(std::string_view device) {
  if (device == "cuda") return 0;
  if (!device.starts_with("cuda:")) return -1;
  device.remove_prefix(5);
  int ordinal = -1;
  const auto [end, error] = std::from_chars(device.data(), device.data() + device.size(), ordinal);
  return error == std::errc() && end == device.data() + device.size() ? ordinal : -1;
}

double GiB(int64_t bytes) { return static_cast<double>(bytes) / (1 << 30); }

// Of a graph that is not open yet.
struct GraphSize {
  int64_t structure = 0, features = 0;  // bytes; structure: row offsets, columns, labels
  int64_t transient = 0;                // while a synthetic graph is made, before its features are
};

Result<GraphSize> SizeOf(const std::string& name) {
  const auto structure = [](int64_t nodes, int64_t edges) { return 8 * (nodes + 1) + 4 * edges + 4 * nodes; };
  if (!IsSyntheticName(name)) {
    HONE_ASSIGN_OR_RETURN(const ContainerHeader header, ReadContainerHeader(name));
    const ContainerSection* const features = header.Find(SectionType::kFeatures);
    return GraphSize{structure(header.num_nodes, header.num_edges), features == nullptr ? 0 : features->bytes, 0};
  }
  HONE_ASSIGN_OR_RETURN(const SyntheticRequest request, ParseSyntheticName(name));
  double degree = 0, below = 0;  // the mean, as its distribution has it
  for (size_t k = 0; k < request.degrees.upper.size(); ++k) {
    const double first = k == 0 ? 1 : request.degrees.upper[k - 1] + 1.0;
    const auto share = static_cast<double>(request.degrees.threshold[k]) / 4294967296.0;
    degree += (share - below) * (first + request.degrees.upper[k]) / 2;
    below = share;
  }
  const int64_t nodes = request.spec.num_nodes;
  const auto edges = static_cast<int64_t>(degree * static_cast<double>(nodes));
  return GraphSize{structure(nodes, edges), nodes * FeatureStrideBytes(request.spec.width, request.dtype), 4 * edges};
}

}  // namespace

void AddDeviceFlags(CLI::App& command, DeviceFlags& flags) {
  command.add_option("--device", flags.device, "auto, cpu, cuda (the first GPU) or cuda:N")
      ->capture_default_str()
      ->check([](const std::string& text) {
        return text == "auto" || text == "cpu" || GpuOrdinal(text) >= 0
                   ? std::string()
                   : fmt::format("'{}' is no device; use auto, cpu, cuda or cuda:N", text);
      });
  command.add_option("--precision", flags.precision, "of a GPU's activations and products: bf16 (its default) or fp32")
      ->check(CLI::IsMember({"bf16", "fp32"}));
}

std::string GivenDeviceFlags(const DeviceFlags& flags) {
  return (flags.device == "auto" ? std::string() : " --device " + flags.device) +
         (flags.precision.empty() ? std::string() : " --precision " + flags.precision);
}

std::string DeviceChoice::name() const { return cuda ? fmt::format("cuda:{}", gpu.ordinal) : "cpu"; }

std::string DeviceChoice::Line() const {
  return fmt::format("device: {}{}, {}; {}", name(), cuda ? fmt::format(" ({})", gpu.name) : "", precision(), why);
}

void DeviceChoice::AppendTo(nlohmann::json& json) const {
  json["device"] = name();
  json["device_name"] = cuda ? nlohmann::json(gpu.name) : nlohmann::json(nullptr);
  json["device_why"] = why;
  json["precision"] = precision();
}

Result<DeviceChoice> ChooseDevice(const DeviceFlags& flags, const std::function<Status(const GpuFacts&)>& can) {
  DeviceChoice choice;
  const bool wants_bf16 = flags.precision == "bf16";
  if (flags.device == "cpu") {
    if (wants_bf16) {
      return Status::InvalidArgument("--precision bf16 is a GPU's: the CPU computes in fp32; leave it out");
    }
    choice.why = "as --device says";
    return choice;
  }
  const bool automatic = flags.device == "auto";
  const Result<GpuFacts> gpu = UseGpu(automatic ? 0 : GpuOrdinal(flags.device));
  const Status status = gpu.ok() ? can(*gpu) : gpu.status();
  if (status.ok()) {
    choice.cuda = true;
    choice.gpu = *gpu;
    choice.fp32 = flags.precision == "fp32";
    choice.why = automatic ? "--device auto found a GPU that can do this" : "as --device says";
    return choice;
  }
  if (!automatic) return status;
  if (wants_bf16) {
    return Status(status.code(), fmt::format("--precision bf16 needs a GPU: {}", status.message()));
  }
  choice.why = fmt::format("--device auto: {}", status.message());
  return choice;
}

Status FitsGpu(const std::string& name, const GpuFacts& gpu) {
  HONE_ASSIGN_OR_RETURN(const GraphSize size, SizeOf(name));
  const int64_t needed = size.structure + std::max(size.features, size.transient);
  if (needed <= gpu.free_bytes) return Status::Ok();
  return Status::ResourceExhausted(fmt::format(
      "'{}' needs {:.2f} GiB on the device (edges and labels {:.2f}, features {:.2f}), before the model and its "
      "batches; {} has {:.2f} GiB free of {:.2f}: use --device cpu, which keeps the graph in the host's memory",
      name, GiB(needed), GiB(size.structure), GiB(size.features), gpu.name, GiB(gpu.free_bytes), GiB(gpu.total_bytes)));
}

Result<std::shared_ptr<const Graph>> OpenGraphFor(const DeviceChoice& device, const std::string& name,
                                                  const OpenGraphOptions& options) {
  if (device.cuda && IsSyntheticName(name)) return OutlineSyntheticGraph(name, options.threads);
  return OpenGraph(name, options);
}

}  // namespace hone::gnn
