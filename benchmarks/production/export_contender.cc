// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Turns a candidate into a contender of time_contenders: prints a .cu file with the header that `hone apply` would
// write, and around it the functions of contender.h. A user's program would run the same code.
//
//   export_contender TASK-FOLDER CANDIDATE.cu [NAME=VALUE …]     values of tunables; by default the first choice of
//   each
#include <cstdio>
#include <string>

#include "base/files/file.h"
#include "hone/tuner/task.h"
#include "tuner/interop/write/cuda_header.h"

namespace hone {
namespace {

std::string Adapter(const HeaderSignature& signature) {
  std::string arguments;
  for (size_t i = 0; i < signature.tensors.size(); ++i) {
    arguments += "static_cast<" + signature.tensors[i].type + ">(problem->tensors[" + std::to_string(i) + "]), ";
  }
  for (size_t i = 0; i < signature.scalars.size(); ++i) arguments += "problem->eps, ";
  for (size_t i = 0; i < signature.dims.size(); ++i) arguments += "problem->dims[" + std::to_string(i) + "], ";
  return "\n#include \"contender.h\"\nextern \"C\" const char* contender_task(void) { return \"" + signature.function +
         "\"; }\nextern \"C\" int contender_launch(const HoneProblem* problem, void* stream) {\n  return hone::" +
         signature.function + "(" + arguments + "static_cast<cudaStream_t>(stream)) == cudaSuccess ? 0 : 2;\n}\n";
}

Result<std::string> Export(const std::string& folder, const std::string& file, int bindings, char** binding) {
  KernelPackage package;
  HONE_ASSIGN_OR_RETURN(package.task, LoadTask(folder));
  HONE_ASSIGN_OR_RETURN(const std::string source, ReadFile(file));
  HONE_ASSIGN_OR_RETURN(package.winner, ParseCandidate(source, file, package.task));
  package.seed = package.winner;
  package.winner_binding = DefaultBinding(package.winner.plan);
  for (int i = 0; i < bindings; ++i) {
    const std::string text = binding[i];
    const size_t at = text.find('=');
    if (at == std::string::npos || package.winner_binding.count(text.substr(0, at)) == 0) {
      return Status::InvalidArgument("no tunable for '" + text + "' in " + file);
    }
    package.winner_binding[text.substr(0, at)] = std::stoll(text.substr(at + 1));
  }
  package.run = "none (a kernel by hand)";
  package.device = "any";
  HONE_ASSIGN_OR_RETURN(std::string header, CudaHeader(package));
  return header + Adapter(SignatureOf(package.task));
}

}  // namespace
}  // namespace hone

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "export_contender TASK-FOLDER CANDIDATE.cu [NAME=VALUE ...]\n");
    return 2;
  }
  const hone::Result<std::string> text = hone::Export(argv[1], argv[2], argc - 3, argv + 3);
  if (!text.ok()) {
    std::fprintf(stderr, "export_contender: %s\n", text.status().message().c_str());
    return 1;
  }
  std::fputs(text->c_str(), stdout);
  return 0;
}
