// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/workbench/export_kernel.h"

#include <fmt/format.h>

#include <cstddef>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/files/file.h"
#include "base/process/subprocess.h"
#include "base/text/json_text.h"
#include "base/text/toml_document.h"
#include "tuner/workbench/candidate_file.h"

extern "C" {
extern const char hone_export_kernel[];
extern const size_t hone_export_kernel_size;
extern const char hone_kernels_candidate[];
extern const size_t hone_kernels_candidate_size;
extern const char hone_kernels_triton[];
extern const size_t hone_kernels_triton_size;
}

namespace hone {
namespace {

using nlohmann::json;

constexpr double kLimitSeconds = 300;
constexpr int kUsualArch = 90;  // for a device without a compute capability, which cannot run machine code anyway

}  // namespace

std::optional<KernelName> AsKernelName(const std::string& candidate) {
  const size_t at = candidate.find(".py::");
  if (at == std::string::npos) return std::nullopt;
  return KernelName{candidate.substr(0, at + 3), candidate.substr(at + 5)};
}

Result<std::string> ExportKernel(const Task& task, const KernelName& name, const DeviceFacts& facts,
                                 const PythonOptions& options) {
  if (!FileExists(name.file))
    return Status::InvalidArgument(
        fmt::format("there is no file {}: name a Python file, then :: and a kernel of it", name.file));
  if (!IsIdentifier(name.function))
    return Status::InvalidArgument(
        fmt::format("'{}' is no name of a kernel: write {}::NAME", name.function, name.file));
  HONE_ASSIGN_OR_RETURN(const Python python, FindPython(options.environment));
  HONE_ASSIGN_OR_RETURN(const TemporaryDirectory scratch, MakeTemporaryDirectory("", "hone-export-"));
  std::error_code ignored;
  const std::filesystem::path file = std::filesystem::absolute(name.file, ignored);
  const std::string out = scratch / "kernel.honek";
  json tensors = json::object(), scalars = json::object(), dims = json::array();
  for (const TensorSpec& tensor : task.tensors) tensors[tensor.name] = DTypeName(tensor.dtype);
  for (const ScalarSpec& scalar : task.scalars) scalars[scalar.name] = DTypeName(scalar.dtype);
  for (const auto& [dim, description] : task.dims) dims.push_back(dim);
  const json job = {{"file", file.string()},
                    {"folder", file.parent_path().string()},
                    {"function", name.function},
                    {"arch", facts.cc_major > 0 ? facts.cc_major * 10 + facts.cc_minor : kUsualArch},
                    {"out", out},
                    {"tensors", tensors},
                    {"scalars", scalars},
                    {"dims", dims},
                    {"modules",
                     {{"hone.kernels.candidate", std::string(hone_kernels_candidate, hone_kernels_candidate_size)},
                      {"hone.kernels.triton", std::string(hone_kernels_triton, hone_kernels_triton_size)}}}};
  HONE_ASSIGN_OR_RETURN(PythonStart start, StartOf(python, std::string(hone_export_kernel, hone_export_kernel_size),
                                                   scratch.path(), options, {file.parent_path().string()}));
  start.sandbox.exec_paths.insert(start.sandbox.exec_paths.end(), python.read_paths.begin(), python.read_paths.end());
  start.sandbox.processes = -1;  // Triton starts ptxas
  start.sandbox.cpu_seconds = static_cast<int64_t>(8 * kLimitSeconds);
  SubprocessOptions run;
  run.argv = std::move(start.argv);
  run.environment = std::move(start.environment);
  run.working_directory = scratch.path();
  run.sandbox = std::move(start.sandbox);
  run.stdin_text = DumpJson(job);
  run.limit_seconds = kLimitSeconds;
  run.max_stdout_bytes = 1 << 20;
  HONE_ASSIGN_OR_RETURN(const SubprocessResult ran, RunSubprocess(run));
  const size_t mark = ran.out.rfind("hone: ");
  if (ran.timed_out || mark == std::string::npos) {
    return Status::InvalidArgument(fmt::format(
        "{}: compiling {} {}: make it smaller, or export it yourself (docs/any-compiler.md)", name.file, name.function,
        ran.timed_out ? fmt::format("took more than {:.0f} s", kLimitSeconds) : "ended with " + ran.exit.Describe()));
  }
  HONE_ASSIGN_OR_RETURN(const json answer,
                        ParseJson(std::string_view(ran.out).substr(mark + 6), "the export's answer"));
  if (answer.is_object() && answer.contains("error") && answer["error"].is_string()) {
    const std::string error = answer["error"].get<std::string>();
    return error.starts_with("Triton does not load") ? Status::Unavailable(error) : Status::InvalidArgument(error);
  }
  return ReadCandidate(out);
}

}  // namespace hone
