// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// See compile_candidate.h.
#include "tuner/evaluate/compile/compile_candidate.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "tuner/core/program/include_directives.h"
#include "tuner/core/program/translation_unit.h"
#include "tuner/evaluate/compile/host_code.h"

namespace hone {

Result<CompiledProgram> CompileCandidate(Compiler& compiler, const Candidate& candidate, const Task& task,
                                         const Binding& binding, int jobs) {
  CompiledProgram program;
  program.candidate = candidate;
  program.binding = binding;
  const std::vector<CompileUnit> units = CompileUnits(candidate, binding);

  std::vector<std::optional<Result<CompiledModule>>> modules(units.size());
  std::atomic<size_t> next_unit{0};
  // Every compiler refuses the same directives. Machine code has none.
  const std::optional<IncludeRefusal> refused =
      candidate.plan.machine_code.empty() ? JudgeIncludes(candidate.source) : std::nullopt;
  const auto compile = [&](const CompileUnit& unit) -> Result<CompiledModule> {
    if (!refused) return compiler.Compile(MakeTranslationUnit(candidate, task, unit));
    CompiledModule module;
    module.verdict = refused->verdict;
    module.digest = module.log = refused->sentence + "\n";
    return module;
  };
  const auto work = [&] {
    for (size_t i = next_unit++; i < units.size(); i = next_unit++) {
      modules[i].emplace(compile(units[i]));
    }
  };
  const size_t threads = std::min(units.size(), static_cast<size_t>(std::max(jobs, 1)));
  std::vector<std::thread> helpers;
  for (size_t i = 1; i < threads; ++i) helpers.emplace_back(work);
  work();
  for (std::thread& helper : helpers) helper.join();

  for (size_t i = 0; i < units.size(); ++i) {
    HONE_ASSIGN_OR_RETURN(CompiledModule module, std::move(*modules[i]));
    // A host compiler's errors about host code, such as "cudaMalloc was not declared", do not say why it must go.
    if (module.verdict == Verdict::kCompileError && !candidate.plan.host_mode && candidate.plan.machine_code.empty()) {
      const std::string file = MakeTranslationUnit(candidate, task, units[i]).file;  // as the compiler's errors name it
      module.digest = HostCodeAdvice(candidate.source, file) + module.digest;
    }
    program.modules[BindingKey(units[i].binding)] = std::move(module);
  }
  return program;
}

}  // namespace hone
