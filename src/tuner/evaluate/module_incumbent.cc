// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/evaluate/module_incumbent.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "tuner/device/sim/model/gpu_table.h"
#include "tuner/device/sim/model/sim_model.h"

namespace hone {

Result<double> ModelledModuleUs(HostReference& reference, const Dims& dims, const std::string& device) {
  const size_t colon = device.find(':');
  const std::optional<sim::GpuModel> gpu = sim::FindGpuModel(colon == std::string::npos ? "" : device.substr(colon + 1));
  if (!gpu) return Status::Internal(fmt::format("{} is no simulated GPU", device));
  HONE_ASSIGN_OR_RETURN(const std::vector<HostReference::OperatorWork> operators, reference.Operators(dims));
  double seconds = 0;
  for (const HostReference::OperatorWork& one : operators) {
    const auto calls = static_cast<double>(std::max<int64_t>(one.calls, 1));
    seconds += calls * sim::ModelOperator(*gpu, one.bytes / calls, one.flops / calls);
  }
  if (!(seconds > 0)) return Status::InvalidArgument("the module calls no operator that takes time");
  return seconds * 1e6;
}

Status TimeAgainstModule(const Task& task, const TorchOptions& torch, HostReference* reference, Evaluation* evaluation) {
  constexpr const char* kEntry = "torch_eager";
  std::vector<CaseResult*> cases;
  for (CaseResult& c : evaluation->cases) {
    if (c.role == CaseRole::kTime) cases.push_back(&c);
  }
  if (reference == nullptr && !cases.empty()) {
    TorchOptions eager = torch;
    eager.modes = {"eager"};
    LibrarySpec spec;
    spec.name = "torch";
    spec.module = true;
    TimeTorch(spec, task, cases, eager);
  }
  for (CaseResult* c : cases) {
    double module_us = 0;
    std::optional<Interval> speedup;
    if (reference != nullptr) {
      HONE_ASSIGN_OR_RETURN(module_us, ModelledModuleUs(*reference, c->dims, torch.facts.id));
    } else {
      const auto entry = std::find_if(c->libraries.begin(), c->libraries.end(), [&](const LibraryResult& one) { return one.name == kEntry; });
      if (entry == c->libraries.end() || !entry->time_us) {
        return Status::Unavailable(fmt::format("the task has no seed, and PyTorch has no time of its module to compare with: {}",
                                               entry == c->libraries.end() ? "it gave none" : entry->detail));
      }
      module_us = *entry->time_us;
      speedup = entry->speedup;
      c->libraries.erase(entry);
    }
    if (!c->time_us) {
      c->time_us = Interval{module_us, module_us, module_us};
      continue;
    }
    c->baseline_us = module_us;
    c->speedup = speedup ? *speedup : Interval{module_us / c->time_us->median, module_us / c->time_us->high, module_us / c->time_us->low};
  }
  evaluation->geomean_speedup = GeomeanSpeedup(evaluation->cases);
  return Status::Ok();
}

}  // namespace hone
