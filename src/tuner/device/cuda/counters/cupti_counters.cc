// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Reads counters by CUPTI's range profiler: every kernel is a range of its own, and this code runs the passes itself,
// so that each starts from the same buffers and cold caches.
//
// libcupti is loaded at run time and never unloaded (it hooks the driver). Its structures carry their own size, so a
// library newer than the headers of this build understands them.
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>
#include <dlfcn.h>
#include <fmt/format.h>
#include <link.h>

#include <set>

#include "tuner/device/cuda/counters/counter_source.h"

// X(member, symbol)
#define HONE_CUPTI_ENTRY_POINTS(X)                                        \
  X(GetResultString, cuptiGetResultString)                                \
  X(DeviceGetChipName, cuptiDeviceGetChipName)                            \
  X(ProfilerInitialize, cuptiProfilerInitialize)                          \
  X(DeviceSupported, cuptiProfilerDeviceSupported)                        \
  X(GetCounterAvailability, cuptiProfilerGetCounterAvailability)          \
  X(HostInitialize, cuptiProfilerHostInitialize)                          \
  X(HostDeinitialize, cuptiProfilerHostDeinitialize)                      \
  X(HostGetBaseMetrics, cuptiProfilerHostGetBaseMetrics)                  \
  X(HostConfigAddMetrics, cuptiProfilerHostConfigAddMetrics)              \
  X(HostGetConfigImageSize, cuptiProfilerHostGetConfigImageSize)          \
  X(HostGetConfigImage, cuptiProfilerHostGetConfigImage)                  \
  X(HostEvaluateToGpuValues, cuptiProfilerHostEvaluateToGpuValues)        \
  X(Enable, cuptiRangeProfilerEnable)                                     \
  X(Disable, cuptiRangeProfilerDisable)                                   \
  X(GetCounterDataSize, cuptiRangeProfilerGetCounterDataSize)             \
  X(CounterDataInitialize, cuptiRangeProfilerCounterDataImageInitialize)  \
  X(SetConfig, cuptiRangeProfilerSetConfig)                               \
  X(Start, cuptiRangeProfilerStart)                                       \
  X(Stop, cuptiRangeProfilerStop)                                         \
  X(DecodeData, cuptiRangeProfilerDecodeData)                             \
  X(GetCounterDataInfo, cuptiRangeProfilerGetCounterDataInfo)

namespace hone {
namespace {

constexpr int kMostPasses = 500;  // bound for a library that never reports the last pass

struct Cupti {
#define HONE_CUPTI_MEMBER(member, symbol) decltype(&::symbol) member = nullptr;
  HONE_CUPTI_ENTRY_POINTS(HONE_CUPTI_MEMBER)
#undef HONE_CUPTI_MEMBER

  std::string NameOf(CUptiResult result) const {
    const char* text = nullptr;
    if (GetResultString(result, &text) == CUPTI_SUCCESS && text != nullptr) return text;
    return fmt::format("CUPTI error {}", static_cast<int>(result));
  }
};

// Parameter blocks begin with their size; everything else starts as zero.
template <typename Params>
Params MakeParams(size_t size) {
  Params params{};
  params.structSize = size;
  return params;
}
#define HONE_CUPTI_PARAMS(type) MakeParams<type>(type##_STRUCT_SIZE)

// Returns the error for a result of CUPTI, with the remedy where one is known.
Status ErrorOf(const Cupti& cupti, CUptiResult result, const std::string& what) {
  switch (result) {
    case CUPTI_ERROR_INSUFFICIENT_PRIVILEGES:
    case CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES:
      return Status::Unavailable(
          "the driver lets only administrators read performance counters (ERR_NVGPUCTRPERM): load the nvidia module with "
          "NVreg_RestrictProfilingToAdminUsers=0, or run with CAP_SYS_ADMIN (in a container: --cap-add SYS_ADMIN)");
    case CUPTI_ERROR_HARDWARE_BUSY:
    case CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED:
      return Status::Unavailable("another profiler holds this GPU's performance counters: end it (dcgm: `dcgmi profile --pause`) and "
                                 "profile again");
    case CUPTI_ERROR_MIG_DEVICE_NOT_SUPPORTED:
    case CUPTI_ERROR_CONFIDENTIAL_COMPUTING_NOT_SUPPORTED:
    case CUPTI_ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED:
    case CUPTI_ERROR_CMP_DEVICE_NOT_SUPPORTED:
    case CUPTI_ERROR_SLI_DEVICE_NOT_SUPPORTED:
    case CUPTI_ERROR_WSL_DEVICE_NOT_SUPPORTED:
    case CUPTI_ERROR_NOT_SUPPORTED:
      return Status::Unavailable(
          fmt::format("CUPTI cannot count on this GPU as it is set up ({}): profile on a GPU that is not shared or "
                      "virtualised",
                      cupti.NameOf(result)));
    default:
      return Status::Unavailable(fmt::format(
          "{}: {}; a libcupti of the driver's CUDA version may help (LD_LIBRARY_PATH)", what, cupti.NameOf(result)));
  }
}

#define HONE_CUPTI_RETURN_IF_ERROR(expr, what)                                             \
  do {                                                                                     \
    const CUptiResult hone_cupti_result_ = (expr);                                         \
    if (hone_cupti_result_ != CUPTI_SUCCESS) return ErrorOf(cupti_, hone_cupti_result_, what); \
  } while (false)

// Maps "smsp__inst_executed.sum" to "smsp__inst_executed".
std::string BaseName(const std::string& metric) { return metric.substr(0, metric.find('.')); }

class CuptiCounters : public CounterSource {
 public:
  CuptiCounters(Cupti cupti, CUcontext context, std::string chip, std::vector<uint8_t> availability)
      : cupti_(cupti), context_(context), chip_(std::move(chip)), availability_(std::move(availability)) {}

  Result<Values> Collect(const std::vector<std::string>& metrics, size_t most_kernels, const std::function<Status()>& prepare,
                         const std::function<Status()>& execute) override {
    auto host = HONE_CUPTI_PARAMS(CUpti_Profiler_Host_Initialize_Params);
    host.profilerType = CUPTI_PROFILER_TYPE_RANGE_PROFILER;
    host.pChipName = chip_.c_str();
    host.pCounterAvailabilityImage = availability_.data();
    HONE_CUPTI_RETURN_IF_ERROR(cupti_.HostInitialize(&host), "CUPTI could not be set up for " + chip_);
    host_ = host.pHostObject;
    auto enable = HONE_CUPTI_PARAMS(CUpti_RangeProfiler_Enable_Params);
    Result<Values> values = Values();
    enable.ctx = context_;
    if (const CUptiResult result = cupti_.Enable(&enable); result != CUPTI_SUCCESS) {
      values = ErrorOf(cupti_, result, "CUPTI's range profiler could not be enabled");
    } else {
      profiler_ = enable.pRangeProfilerObject;
      values = Count(metrics, most_kernels, prepare, execute);
      auto disable = HONE_CUPTI_PARAMS(CUpti_RangeProfiler_Disable_Params);
      disable.pRangeProfilerObject = profiler_;
      cupti_.Disable(&disable);  // counts stay valid; a failure shows at the next Enable
    }
    auto end = HONE_CUPTI_PARAMS(CUpti_Profiler_Host_Deinitialize_Params);
    end.pHostObject = host_;
    cupti_.HostDeinitialize(&end);
    return values;
  }

 private:
  // One refused metric breaks a host object for all later calls (seen with CUPTI 13.0), so only metrics of the chip's
  // own list are requested.
  Result<std::vector<const char*>> KnownMetrics(const std::vector<std::string>& metrics) const {
    std::set<std::string> names;
    for (const CUpti_MetricType type : {CUPTI_METRIC_TYPE_COUNTER, CUPTI_METRIC_TYPE_RATIO, CUPTI_METRIC_TYPE_THROUGHPUT}) {
      auto list = HONE_CUPTI_PARAMS(CUpti_Profiler_Host_GetBaseMetrics_Params);
      list.pHostObject = host_;
      list.metricType = type;
      HONE_CUPTI_RETURN_IF_ERROR(cupti_.HostGetBaseMetrics(&list), "CUPTI does not list its metrics");
      names.insert(list.ppMetricNames, list.ppMetricNames + list.numMetrics);
    }
    std::vector<const char*> known_metrics;
    for (const std::string& metric : metrics) {
      if (names.contains(BaseName(metric))) known_metrics.push_back(metric.c_str());
    }
    if (known_metrics.empty())
      return Status::Unavailable("CUPTI knows none of the metrics that Hone reads for " + chip_);
    return known_metrics;
  }

  // Counts the metrics of each kernel that `execute` launches, in as many passes as the hardware needs. `prepare`
  // restores the inputs before each pass.
  Result<Values> Count(const std::vector<std::string>& metrics, size_t most_kernels, const std::function<Status()>& prepare,
                       const std::function<Status()>& execute) {
    HONE_ASSIGN_OR_RETURN(std::vector<const char*> known_metrics, KnownMetrics(metrics));
    auto add = HONE_CUPTI_PARAMS(CUpti_Profiler_Host_ConfigAddMetrics_Params);
    add.pHostObject = host_;
    add.ppMetricNames = known_metrics.data();
    add.numMetrics = known_metrics.size();
    HONE_CUPTI_RETURN_IF_ERROR(cupti_.HostConfigAddMetrics(&add), "CUPTI does not take the metrics");
    auto config_size = HONE_CUPTI_PARAMS(CUpti_Profiler_Host_GetConfigImageSize_Params);
    config_size.pHostObject = host_;
    HONE_CUPTI_RETURN_IF_ERROR(cupti_.HostGetConfigImageSize(&config_size), "CUPTI does not plan the passes");
    std::vector<uint8_t> config(config_size.configImageSize);
    auto image = HONE_CUPTI_PARAMS(CUpti_Profiler_Host_GetConfigImage_Params);
    image.pHostObject = host_;
    image.configImageSize = config.size();
    image.pConfigImage = config.data();
    HONE_CUPTI_RETURN_IF_ERROR(cupti_.HostGetConfigImage(&image), "CUPTI does not plan the passes");

    auto data_size = HONE_CUPTI_PARAMS(CUpti_RangeProfiler_GetCounterDataSize_Params);
    data_size.pRangeProfilerObject = profiler_;
    data_size.pMetricNames = known_metrics.data();
    data_size.numMetrics = known_metrics.size();
    data_size.maxNumOfRanges = most_kernels;
    data_size.maxNumRangeTreeNodes = static_cast<uint32_t>(most_kernels);
    HONE_CUPTI_RETURN_IF_ERROR(cupti_.GetCounterDataSize(&data_size), "CUPTI does not size its results");
    std::vector<uint8_t> counter_image(data_size.counterDataSize);
    auto initialize = HONE_CUPTI_PARAMS(CUpti_RangeProfiler_CounterDataImage_Initialize_Params);
    initialize.pRangeProfilerObject = profiler_;
    initialize.counterDataSize = counter_image.size();
    initialize.pCounterData = counter_image.data();
    HONE_CUPTI_RETURN_IF_ERROR(cupti_.CounterDataInitialize(&initialize), "CUPTI does not take room for its results");

    auto set_config = HONE_CUPTI_PARAMS(CUpti_RangeProfiler_SetConfig_Params);
    set_config.pRangeProfilerObject = profiler_;
    set_config.configSize = config.size();
    set_config.pConfig = config.data();
    set_config.counterDataImageSize = counter_image.size();
    set_config.pCounterDataImage = counter_image.data();
    set_config.range = CUPTI_AutoRange;
    set_config.replayMode = CUPTI_UserReplay;
    set_config.maxRangesPerPass = most_kernels;
    set_config.numNestingLevels = 1;
    set_config.minNestingLevel = 1;
    set_config.passIndex = 0;
    set_config.targetNestingLevel = 1;
    HONE_CUPTI_RETURN_IF_ERROR(cupti_.SetConfig(&set_config), "CUPTI does not take the counters' set-up");

    bool all = false;
    for (int pass = 0; !all; ++pass) {
      if (pass == kMostPasses) return Status::Unavailable(fmt::format("CUPTI was not done after {} passes", kMostPasses));
      HONE_RETURN_IF_ERROR(prepare());
      auto start = HONE_CUPTI_PARAMS(CUpti_RangeProfiler_Start_Params);
      start.pRangeProfilerObject = profiler_;
      HONE_CUPTI_RETURN_IF_ERROR(cupti_.Start(&start), "CUPTI does not start counting");
      const Status ran = execute();
      auto stop = HONE_CUPTI_PARAMS(CUpti_RangeProfiler_Stop_Params);
      stop.pRangeProfilerObject = profiler_;
      const CUptiResult stopped = cupti_.Stop(&stop);
      HONE_RETURN_IF_ERROR(ran);
      HONE_CUPTI_RETURN_IF_ERROR(stopped, "CUPTI does not stop counting");
      all = stop.isAllPassSubmitted != 0;
    }
    auto decode = HONE_CUPTI_PARAMS(CUpti_RangeProfiler_DecodeData_Params);
    decode.pRangeProfilerObject = profiler_;
    HONE_CUPTI_RETURN_IF_ERROR(cupti_.DecodeData(&decode), "CUPTI does not read its counters");
    auto about = HONE_CUPTI_PARAMS(CUpti_RangeProfiler_GetCounterDataInfo_Params);
    about.pCounterDataImage = counter_image.data();
    about.counterDataImageSize = counter_image.size();
    HONE_CUPTI_RETURN_IF_ERROR(cupti_.GetCounterDataInfo(&about), "CUPTI does not say how many kernels it counted");
    const size_t kernels = about.numTotalRanges;
    Values values(kernels);
    std::vector<double> row(known_metrics.size());
    for (size_t range = 0; range < kernels; ++range) {
      auto evaluate = HONE_CUPTI_PARAMS(CUpti_Profiler_Host_EvaluateToGpuValues_Params);
      evaluate.pHostObject = host_;
      evaluate.pCounterDataImage = counter_image.data();
      evaluate.counterDataImageSize = counter_image.size();
      evaluate.rangeIndex = range;
      evaluate.ppMetricNames = known_metrics.data();
      evaluate.numMetrics = known_metrics.size();
      evaluate.pMetricValues = row.data();
      HONE_CUPTI_RETURN_IF_ERROR(cupti_.HostEvaluateToGpuValues(&evaluate), "CUPTI does not work out its metrics");
      for (size_t i = 0; i < known_metrics.size(); ++i) values[range][known_metrics[i]] = row[i];
    }
    return values;
  }

  Cupti cupti_;
  CUcontext context_;
  std::string chip_;
  std::vector<uint8_t> availability_;
  CUpti_Profiler_Host_Object* host_ = nullptr;
  CUpti_RangeProfiler_Object* profiler_ = nullptr;
};

// CUPTI opens libnvperf_host.so and libnvperf_target.so by their bare names, which fails if it was itself found in a
// folder that the loader does not search (extras/CUPTI/lib64, seen with CUPTI 13.0). An already loaded library of that
// name is used; if there is none in the folder, the loader's own search decides.
void LoadCompanions(void* library) {
  link_map* map = nullptr;
  if (dlinfo(library, RTLD_DI_LINKMAP, &map) != 0 || map == nullptr || map->l_name == nullptr) return;
  const std::string path = map->l_name;
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return;
  for (const char* name : {"/libnvperf_host.so", "/libnvperf_target.so"}) {
    (void)dlopen((path.substr(0, slash) + name).c_str(), RTLD_NOW | RTLD_LOCAL);
  }
}

}  // namespace

std::vector<std::string> CuptiLibraries() {
  return {"libcupti.so.13", "libcupti.so.12", "libcupti.so", "/usr/local/cuda/lib64/libcupti.so",
          "/usr/local/cuda/extras/CUPTI/lib64/libcupti.so"};
}

Result<std::unique_ptr<CounterSource>> MakeCuptiCounters(CUcontext context, int device_ordinal,
                                                         const std::vector<std::string>& libraries) {
  void* library = nullptr;
  std::string found_paths;
  for (const std::string& name : libraries) {
    if ((library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL)) != nullptr) {
      found_paths = name;
      break;
    }
  }
  if (library == nullptr) {
    return Status::Unavailable(fmt::format("CUPTI is not installed (looked for {}): install the CUDA toolkit's cuda-cupti package, or put "
                                           "its folder on LD_LIBRARY_PATH", fmt::join(libraries, ", ")));
  }
  LoadCompanions(library);
  Cupti cupti_;
  std::string missing;
#define HONE_CUPTI_LOOK_UP(member, symbol)                                            \
  cupti_.member = reinterpret_cast<decltype(cupti_.member)>(dlsym(library, #symbol)); \
  if (cupti_.member == nullptr && missing.empty()) missing = #symbol;
  HONE_CUPTI_ENTRY_POINTS(HONE_CUPTI_LOOK_UP)
#undef HONE_CUPTI_LOOK_UP
  if (!missing.empty()) {
    return Status::Unavailable(
        fmt::format("{} is too old: it has no {}; CUPTI 12.6 or newer is needed", found_paths, missing));
  }
  auto initialize = HONE_CUPTI_PARAMS(CUpti_Profiler_Initialize_Params);
  HONE_CUPTI_RETURN_IF_ERROR(cupti_.ProfilerInitialize(&initialize), "CUPTI could not be set up");
  auto supported = HONE_CUPTI_PARAMS(CUpti_Profiler_DeviceSupported_Params);
  supported.cuDevice = device_ordinal;
  supported.api = CUPTI_PROFILER_RANGE_PROFILING;
  HONE_CUPTI_RETURN_IF_ERROR(cupti_.DeviceSupported(&supported), "CUPTI does not know this GPU");
  if (supported.isSupported != CUPTI_PROFILER_CONFIGURATION_SUPPORTED) {
    const bool vgpu = supported.vGpu != CUPTI_PROFILER_CONFIGURATION_SUPPORTED;
    return ErrorOf(cupti_, vgpu ? CUPTI_ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED : CUPTI_ERROR_NOT_SUPPORTED, "");
  }
  auto chip = HONE_CUPTI_PARAMS(CUpti_Device_GetChipName_Params);
  chip.deviceIndex = static_cast<size_t>(device_ordinal);
  HONE_CUPTI_RETURN_IF_ERROR(cupti_.DeviceGetChipName(&chip), "CUPTI does not name this GPU's chip");
  auto availability = HONE_CUPTI_PARAMS(CUpti_Profiler_GetCounterAvailability_Params);
  availability.ctx = context;
  HONE_CUPTI_RETURN_IF_ERROR(cupti_.GetCounterAvailability(&availability), "the counters cannot be read");
  std::vector<uint8_t> image(availability.counterAvailabilityImageSize);
  availability.pCounterAvailabilityImage = image.data();
  HONE_CUPTI_RETURN_IF_ERROR(cupti_.GetCounterAvailability(&availability), "the counters cannot be read");
  return std::unique_ptr<CounterSource>(new CuptiCounters(cupti_, context, chip.pChipName, std::move(image)));
}

}  // namespace hone
