// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Implements a libcupti for tests: the range profiler's calls with its real structures, on a counter instead of a GPU.
// Three passes are needed; a kernel is counted each time hone_fake_cupti_launch is called between Start and Stop;
// metric i of kernel r is 100 r + i. HONE_FAKE_CUPTI selects errors.
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace {

constexpr size_t kPasses = 3;  // passes after which the fake says that it is done
const char* kCounters[] = {"dram__bytes_read", "gpu__time_duration", "smsp__inst_executed"};
const char* kThroughputs[] = {"dram__throughput"};

struct State {
  std::vector<std::string> metrics;
  size_t pass = 0, ranges = 0, ranges_in_pass = 0;
  bool counting = false;
} state;

bool Mode(const char* name) {
  const char* mode = std::getenv("HONE_FAKE_CUPTI");
  return mode != nullptr && std::strcmp(mode, name) == 0;
}

bool Known(const std::string& metric) {
  const std::string base = metric.substr(0, metric.find('.'));
  const auto in = [&](auto& names) { return std::find(std::begin(names), std::end(names), base) != std::end(names); };
  return in(kCounters) || in(kThroughputs);
}

}  // namespace

extern "C" {

#define HONE_EXPORT __attribute__((visibility("default")))

HONE_EXPORT void hone_fake_cupti_launch() { state.ranges_in_pass += state.counting; }

HONE_EXPORT CUptiResult cuptiGetResultString(CUptiResult result, const char** text) {
  *text = result == CUPTI_ERROR_UNKNOWN ? "CUPTI_ERROR_UNKNOWN" : "CUPTI_ERROR_OTHER";
  return CUPTI_SUCCESS;
}
HONE_EXPORT CUptiResult cuptiDeviceGetChipName(CUpti_Device_GetChipName_Params* p) {
  p->pChipName = "GH100";
  return CUPTI_SUCCESS;
}
HONE_EXPORT CUptiResult cuptiProfilerInitialize(CUpti_Profiler_Initialize_Params*) { return CUPTI_SUCCESS; }
HONE_EXPORT CUptiResult cuptiProfilerDeviceSupported(CUpti_Profiler_DeviceSupported_Params* p) {
  p->isSupported = Mode("unsupported") ? CUPTI_PROFILER_CONFIGURATION_UNSUPPORTED : CUPTI_PROFILER_CONFIGURATION_SUPPORTED;
  p->vGpu = p->isSupported;
  return CUPTI_SUCCESS;
}
HONE_EXPORT CUptiResult cuptiProfilerGetCounterAvailability(CUpti_Profiler_GetCounterAvailability_Params* p) {
  if (Mode("forbidden")) return CUPTI_ERROR_INSUFFICIENT_PRIVILEGES;
  if (p->pCounterAvailabilityImage == nullptr) p->counterAvailabilityImageSize = 16;
  return CUPTI_SUCCESS;
}
HONE_EXPORT CUptiResult cuptiProfilerHostInitialize(CUpti_Profiler_Host_Initialize_Params* p) {
  if (p->structSize != CUpti_Profiler_Host_Initialize_Params_STRUCT_SIZE || std::string(p->pChipName) != "GH100" ||
      p->pCounterAvailabilityImage == nullptr) {
    return CUPTI_ERROR_INVALID_PARAMETER;
  }
  state = State();
  p->pHostObject = reinterpret_cast<CUpti_Profiler_Host_Object*>(&state);
  return CUPTI_SUCCESS;
}
HONE_EXPORT CUptiResult cuptiProfilerHostDeinitialize(CUpti_Profiler_Host_Deinitialize_Params*) { return CUPTI_SUCCESS; }
HONE_EXPORT CUptiResult cuptiProfilerHostGetBaseMetrics(CUpti_Profiler_Host_GetBaseMetrics_Params* p) {
  p->ppMetricNames = p->metricType == CUPTI_METRIC_TYPE_COUNTER ? kCounters : kThroughputs;
  p->numMetrics = p->metricType == CUPTI_METRIC_TYPE_COUNTER      ? std::size(kCounters)
                  : p->metricType == CUPTI_METRIC_TYPE_THROUGHPUT ? std::size(kThroughputs)
                                                                  : 0;
  return CUPTI_SUCCESS;
}
HONE_EXPORT CUptiResult cuptiProfilerHostConfigAddMetrics(CUpti_Profiler_Host_ConfigAddMetrics_Params* p) {
  for (size_t i = 0; i < p->numMetrics; ++i) {
    if (!Known(p->ppMetricNames[i])) return CUPTI_ERROR_UNKNOWN;
    state.metrics.emplace_back(p->ppMetricNames[i]);
  }
  return CUPTI_SUCCESS;
}
HONE_EXPORT CUptiResult cuptiProfilerHostGetConfigImageSize(CUpti_Profiler_Host_GetConfigImageSize_Params* p) {
  p->configImageSize = 8;
  return CUPTI_SUCCESS;
}
HONE_EXPORT CUptiResult cuptiProfilerHostGetConfigImage(CUpti_Profiler_Host_GetConfigImage_Params* p) {
  std::memset(p->pConfigImage, 7, p->configImageSize);
  return CUPTI_SUCCESS;
}
HONE_EXPORT CUptiResult cuptiRangeProfilerEnable(CUpti_RangeProfiler_Enable_Params* p) {
  if (Mode("busy")) return CUPTI_ERROR_HARDWARE_BUSY;
  p->pRangeProfilerObject = reinterpret_cast<CUpti_RangeProfiler_Object*>(&state);
  return CUPTI_SUCCESS;
}
HONE_EXPORT CUptiResult cuptiRangeProfilerDisable(CUpti_RangeProfiler_Disable_Params*) { return CUPTI_SUCCESS; }
HONE_EXPORT CUptiResult cuptiRangeProfilerGetCounterDataSize(CUpti_RangeProfiler_GetCounterDataSize_Params* p) {
  p->counterDataSize = 64 * p->maxNumOfRanges;
  return CUPTI_SUCCESS;
}
HONE_EXPORT CUptiResult cuptiRangeProfilerCounterDataImageInitialize(CUpti_RangeProfiler_CounterDataImage_Initialize_Params*) {
  return CUPTI_SUCCESS;
}
HONE_EXPORT CUptiResult cuptiRangeProfilerSetConfig(CUpti_RangeProfiler_SetConfig_Params* p) {
  const bool arguments_are_right = p->range == CUPTI_AutoRange && p->replayMode == CUPTI_UserReplay &&
                                   p->pConfig[0] == 7 && p->numNestingLevels == 1;
  return arguments_are_right ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
}
HONE_EXPORT CUptiResult cuptiRangeProfilerStart(CUpti_RangeProfiler_Start_Params*) {
  state.counting = true;
  state.ranges_in_pass = 0;
  return CUPTI_SUCCESS;
}
HONE_EXPORT CUptiResult cuptiRangeProfilerStop(CUpti_RangeProfiler_Stop_Params* p) {
  state.counting = false;
  state.ranges = state.ranges_in_pass;
  p->isAllPassSubmitted = ++state.pass >= kPasses && !Mode("endless");
  return CUPTI_SUCCESS;
}
HONE_EXPORT CUptiResult cuptiRangeProfilerDecodeData(CUpti_RangeProfiler_DecodeData_Params*) { return CUPTI_SUCCESS; }
HONE_EXPORT CUptiResult cuptiRangeProfilerGetCounterDataInfo(CUpti_RangeProfiler_GetCounterDataInfo_Params* p) {
  p->numTotalRanges = state.ranges;
  return CUPTI_SUCCESS;
}
HONE_EXPORT CUptiResult cuptiProfilerHostEvaluateToGpuValues(CUpti_Profiler_Host_EvaluateToGpuValues_Params* p) {
  for (size_t i = 0; i < p->numMetrics; ++i) {
    if (p->ppMetricNames[i] != state.metrics[i]) return CUPTI_ERROR_INVALID_PARAMETER;
    p->pMetricValues[i] = 100.0 * static_cast<double>(p->rangeIndex) + static_cast<double>(i);
  }
  return CUPTI_SUCCESS;
}

}  // extern "C"
