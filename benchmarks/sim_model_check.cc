// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Checks whether the simulated GPU's modelled times put kernels in the same order as a real GPU's times.
//
//   sim_model_check --device cuda:0 > measured.json     times every variant of sim_variants.h on a GPU
//   sim_model_check --against measured.json             models their times and prints Spearman's rank correlations;
//                                                       with --require R, exit status 1 if that of all variants is
//                                                       below R
//
// The model's constants were chosen with an H200's times of these variants known (results/*-h200-sim-variants.json).
// The correlation therefore says how well a simple model can fit them; kernels that it has not seen will be ordered
// less well. Times are measured with cold caches: the median of 21 samples after 3, through the same DeviceSession as
// any verdict.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "benchmarks/arguments.h"
#include "benchmarks/sim_variants.h"
#include "tuner/device/device_session.h"
#include "tuner/device/sim/image/sim_compiler.h"
#include "tuner/device/sim/sim_child.h"
#include "tuner/device/sim/sim_session.h"
#include "tuner/evaluate/timing/spearman.h"
#ifdef HONE_WITH_CUDA
#include "tuner/device/cuda/cuda_session.h"
#include "tuner/evaluate/compile/nvrtc_compiler.h"
#include "tuner/evaluate/compile/nvrtc_zygote.h"
#endif

namespace hone {
namespace {

using nlohmann::json;

template <typename T>
T Must(Result<T> result) {
  HONE_CHECK(result.ok(), result.status().message());
  return std::move(result).value();
}
void Must(const Status& status) { HONE_CHECK(status.ok(), status.message()); }

TensorView FlatView(uint64_t address, DType dtype, int64_t elements) {
  TensorView view;
  view.address = address;
  view.dtype = dtype;
  view.shape = {elements};
  view.strides = {1};
  view.elements = elements;
  view.span_bytes = elements * DTypeBytes(dtype);
  return view;
}

ResolvedArgument Tensor(const std::string& name) {
  ResolvedArgument a;
  a.kind = ArgumentKind::kTensor;
  a.name = name;
  return a;
}

double TimeOf(const SimVariant& v, Compiler& compiler, DeviceSession& session) {
  TranslationUnit unit;
  unit.file = v.name + ".cu";
  unit.body = v.source;
  unit.kernels = {"k"};
  CompiledProgram program;
  program.modules[""] = Must(compiler.Compile(unit));
  HONE_CHECK(program.modules[""].verdict == Verdict::kOk, v.name + ": " + program.modules[""].digest);
  DeviceSession::LoadOutcome loaded = Must(session.Load(program));
  HONE_CHECK(loaded.program != nullptr, loaded.launch.detail);

  const int64_t indices = std::max<int64_t>(1, v.elements_index);
  const std::vector<BlockRequest> blocks{{v.bytes_x, 256, false, true}, {v.bytes_y, 256, false, true}, {indices * 4, 256, false, true}};
  const std::unique_ptr<Arena> arena = Must(session.Allocate(blocks, 11));
  Bindings bindings;
  bindings.tensors["x"] = FlatView(arena->address(0), DType::kFloat32, v.bytes_x / 4);
  bindings.tensors["y"] = FlatView(arena->address(1), DType::kFloat32, v.bytes_y / 4);
  bindings.tensors["index"] = FlatView(arena->address(2), DType::kInt32, indices);
  DrawRequest draw;
  draw.view = bindings.tensors["x"];
  draw.key = 5;
  Must(session.Draw(draw));
  draw.view = bindings.tensors["y"];
  draw.values.distribution = Distribution::kZero;
  Must(session.Draw(draw));
  draw.view = bindings.tensors["index"];
  draw.values.distribution = Distribution::kIndex;
  draw.index_bound = v.index_bound;
  Must(session.Draw(draw));

  ResolvedPlan plan;
  ResolvedStep step;
  step.kernel = "k";
  for (size_t i = 0; i < 3; ++i) {
    step.grid[i] = v.grid[i];
    step.block[i] = v.block[i];
  }
  ResolvedArgument n;
  n.kind = ArgumentKind::kInteger;
  n.bytes.resize(4);
  std::memcpy(n.bytes.data(), &v.n, 4);
  step.args = {Tensor("x"), Tensor("y"), Tensor("index"), n};
  plan.steps = {step};

  SampleRequest request;
  request.program = loaded.program.get();
  request.plan = &plan;
  request.sets = {&bindings};
  request.limit_seconds = 300;
  std::vector<double> times;
  const int samples = session.facts().modelled ? 1 : 24;
  for (int s = 0; s < samples; ++s) {
    const SampleOutcome sample = Must(session.TimeSample(request));
    HONE_CHECK(sample.launch.status == LaunchStatus::kOk, v.name + ": " + sample.launch.detail);
    if (samples == 1 || s >= 3) times.push_back(sample.us_per_plan);
  }
  std::nth_element(times.begin(), times.begin() + static_cast<ptrdiff_t>(times.size() / 2), times.end());
  return times[times.size() / 2];
}

int Main(int argc, char** argv) {
  Arguments app("Modelled against measured times");
  std::string device = "sim", against, only, cache;
  double require = -1;
  app.Add("--device", device, "sim, sim:NAME or cuda:N");
  app.Add("--against", against, "a file that this program wrote on a GPU");
  app.Add("--require", require, "least rank correlation over all variants");
  app.Add("--only", only, "variants whose family/name contains this");
  app.Add("--cache", cache, "a folder for precompiled headers, which the simulated GPU otherwise makes anew");
  if (const std::optional<int> status = app.Parse(argc, argv)) return *status;

  std::unique_ptr<Compiler> compiler;
  std::unique_ptr<DeviceSession> session;
  if (device.rfind("sim", 0) == 0) {
    compiler = Must(MakeSimCompiler({.cache_directory = cache}));
    SimSessionOptions options;
    options.gpu = device.size() > 4 ? device.substr(4) : "";
    session = Must(MakeSimSession(options));
  } else {
#ifdef HONE_WITH_CUDA
    session = Must(MakeCudaSession({.ordinal = std::atoi(device.c_str() + std::min<size_t>(device.size(), 5))}));
    NvrtcCompilerOptions nvrtc;
    nvrtc.architecture = NvrtcArchitecture(session->facts().cc_major, session->facts().cc_minor);
    compiler = Must(MakeNvrtcCompiler(nvrtc));
#else
    HONE_CHECK(false, "this build has no CUDA device");
#endif
  }
  const DeviceFacts& facts = session->facts();
  json result{{"benchmark", "sim_model_check"}, {"device", facts.id}, {"name", facts.name}, {"modelled", facts.modelled},
              {"driver", facts.driver}, {"compiler", compiler->Fingerprint()}, {"protocol", "cold, median of 21 after 3"}};
  std::map<std::string, double> measured;
  if (!against.empty()) {
    std::ifstream file(against);
    HONE_CHECK(file.good(), "cannot read " + against);
    const json other = json::parse(file);
    for (const json& row : other.at("variants")) {
      measured[row.at("family").get<std::string>() + "/" + row.at("name").get<std::string>()] = row.at("time_us").get<double>();
    }
    result["against"] = {{"device", other.at("device")}, {"name", other.at("name")}, {"driver", other.at("driver")}};
  }
  std::map<std::string, std::pair<std::vector<double>, std::vector<double>>> families;
  for (const SimVariant& v : SimVariants()) {
    const std::string name = v.family + "/" + v.name;
    if (!only.empty() && name.find(only) == std::string::npos) continue;
    json row{{"family", v.family}, {"name", v.name}, {"time_us", TimeOf(v, *compiler, *session)}};
    if (const auto m = measured.find(name); m != measured.end()) {
      row["measured_us"] = m->second;
      for (const std::string& group : {std::string("all"), v.family}) {
        families[group].first.push_back(row["time_us"].get<double>());
        families[group].second.push_back(m->second);
      }
    }
    std::fprintf(stderr, "%-40s %12.2f %12.2f\n", name.c_str(), row["time_us"].get<double>(), row.value("measured_us", 0.0));
    result["variants"].push_back(row);
  }
  for (const auto& [group, pairs] : families) {
    const std::optional<double> rho = SpearmanCorrelation(pairs.first, pairs.second);
    result["spearman"][group] = {{"kernels", pairs.first.size()}, {"rho", rho ? json(*rho) : json()}};
  }
  std::puts(result.dump(2).c_str());
  if (require < 0) return 0;
  const auto all = families.find("all");
  const std::optional<double> rho = all == families.end() ? std::nullopt : SpearmanCorrelation(all->second.first, all->second.second);
  return rho && *rho >= require ? 0 : 1;
}

}  // namespace
}  // namespace hone

int main(int argc, char** argv) {
  if (argc == 4 && std::strcmp(argv[1], "__sim-child") == 0) return hone::SimChildMain(std::atoi(argv[3]));
#ifdef HONE_WITH_CUDA
  if (argc == 4 && std::strcmp(argv[1], "__nvrtc-zygote") == 0) return hone::NvrtcZygoteMain(std::atoi(argv[3]));
#endif
  return hone::Main(argc, argv);
}
