// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/evaluate/second_device.h"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "tuner/evaluate/compile/compile_candidate.h"

namespace hone {
namespace {

Result<CompiledProgram> Compile(Compiler& compiler, const Task& task, const std::string& source,
                                const std::string& name, const Binding& binding, bool is_oracle, int jobs) {
  HONE_ASSIGN_OR_RETURN(const Candidate candidate, ParseCandidate(source, name, task, is_oracle));
  return CompileCandidate(compiler, candidate, task, binding, jobs);
}

// Returns the first module that did not compile, or null.
const CompiledModule* FirstFailedModule(const CompiledProgram& program) {
  for (const auto& [key, module] : program.modules) {
    if (module.verdict != Verdict::kOk) return &module;
  }
  return nullptr;
}

bool IsNamePart(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// Returns whether g++ defines the macro and NVRTC 13.0 does not, as both compilers were asked on one machine. Macros
// for the limits of types are left out, because honest code names them and their values are the same for both.
bool OfTheHostAlone(std::string_view name) {
  constexpr std::string_view kNames[] = {"HONE_SIM", "_GNU_SOURCE", "_LP64", "_STDC_PREDEF_H", "__ELF__", "__GNUG__", "__GNUC__",
                                         "__DEPRECATED", "__VERSION__", "__PIC__", "__pic__", "__PIE__", "__pie__", "__STRICT_ANSI__",
                                         "__STDCPP_THREADS__", "__MMX__", "__FXSR__"};
  constexpr std::string_view kBeginnings[] = {"__GNUC_", "__GXX_", "__GCC_", "__OPTIMIZE", "__SSE", "__MMX_", "__SEG_", "__linux", "__unix",
                                              "__gnu_linux", "__x86_64", "__amd64", "__k8", "__GLIBC", "_GLIBCXX", "__STDC_IEC_",
                                              "__STDC_UTF_", "__STDC_ISO_", "__SANITIZE_", "__code_model", "__REGISTER_PREFIX",
                                              "__USER_LABEL", "__HAVE_SPEC", "__SIZEOF_", "__CHAR_BIT", "__DEC"};
  return std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames) ||
         std::any_of(std::begin(kBeginnings), std::end(kBeginnings), [&](std::string_view begin) { return name.starts_with(begin); });
}
// Returns whether NVRTC defines the macro and g++ does not.
bool OfAGpuAlone(std::string_view name) {
  constexpr std::string_view kNames[] = {"__CUDACC_RTC__", "__EDG__", "__EDG_VERSION__", "__CUDA_ARCH_LIST__", "__CUDACC_RTC_INT128__",
                                         "__CUDACC_DEVICE_ATOMIC_BUILTINS__", "__NVCC_DIAG_PRAGMA_SUPPORT__", "__PRAGMA_REDEFINE_EXTNAME"};
  return std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames);
}

}  // namespace

std::optional<std::string> AsOnAGpu(std::string_view source) {
  std::string text(source), seen;
  // A backslash may break a line within a word, so join broken lines first.
  for (size_t at = 0; (at = text.find('\\', at)) != std::string::npos;) {
    size_t end = at + 1;
    while (end < text.size() && (text[end] == ' ' || text[end] == '\t' || text[end] == '\r')) ++end;
    const bool within = end < text.size() && text[end] == '\n' && at > 0 && IsNamePart(text[at - 1]) && end + 1 < text.size() &&
                        IsNamePart(text[end + 1]);
    if (within) {
      text.erase(at, end + 1 - at);
    } else {
      ++at;
    }
  }
  bool asks_for_macro = false;
  for (size_t at = 0; at < text.size();) {
    size_t end = at;
    while (end < text.size() && IsNamePart(text[end])) ++end;
    if (end == at) {
      seen += text[at++];
      continue;
    }
    const std::string_view name(text.data() + at, end - at);
    const bool host = OfTheHostAlone(name), gpu = OfAGpuAlone(name);
    asks_for_macro |= host || gpu;
    // A macro of NVRTC alone is replaced by __CUDACC__, which both compilers define.
    seen += host ? "hone_not_here_" + std::string(name) : gpu ? "__CUDACC__" : std::string(name);
    at = end;
  }
  return asks_for_macro ? std::optional<std::string>(std::move(seen)) : std::nullopt;
}

namespace {

// Judges the code that a GPU runs, for a text that has different code for a GPU and for the simulated GPU. `source` is
// the text by AsOnAGpu. `as_simulated` is the verdict on the code for the simulated GPU; it is returned if the other
// code cannot run there.
Result<Evaluation> JudgeWhatTheGpuRan(Backend& simulated, const Task& task, const EvaluationRequest& request, const std::string& source,
                                      int compile_jobs, JudgeJob job, Evaluation as_simulated) {
  const auto unseen = [&](const std::string& why) {
    as_simulated.findings.insert(as_simulated.findings.begin(),
                                 {.kind = "simulated_other_code",
                                  .message = "the text asks which device it is compiled for, and the code that the GPU ran did not "
                                             "run on the simulated one: " + why,
                                  .location = ""});
    return std::move(as_simulated);
  };
  Result<CompiledProgram> compiled =
      Compile(simulated.compiler(), task, source, request.name, request.binding, /*is_oracle=*/false, compile_jobs);
  if (!compiled.ok()) return unseen(compiled.status().message());
  if (const CompiledModule* failure = FirstFailedModule(*compiled)) return unseen(failure->digest);
  job.candidate = *std::move(compiled);
  HONE_ASSIGN_OR_RETURN(Evaluation judged, simulated.Judge(job, {}));
  if (judged.verdict != Verdict::kOk && judged.verdict != Verdict::kWrongOutput && !RefusedBeforeAGpu(judged)) {
    return unseen(std::string(VerdictName(judged.verdict)) + (judged.detail.empty() ? "" : ": " + judged.detail));
  }
  if (judged.verdict == Verdict::kOk) return as_simulated;
  judged.detail = "in the code that the text has for a GPU, " + judged.detail;
  judged.stages.insert(judged.stages.begin(), as_simulated.stages.begin(), as_simulated.stages.end());
  return judged;
}

}  // namespace

Result<Evaluation> JudgeSmallCases(Backend& simulated, const Task& task, const EvaluationRequest& request,
                                   double launch_limit_seconds, int compile_jobs,
                                   std::shared_ptr<HostReference> reference) {
  Evaluation cannot;
  cannot.verdict = Verdict::kUnsupported;
  JudgeJob job;
  job.task = SmallCases(task);
  if (job.task.cases.empty()) {
    cannot.detail = "no check case is small enough to simulate beside a GPU";
    return cannot;
  }
  HONE_ASSIGN_OR_RETURN(job.candidate, Compile(simulated.compiler(), task, request.source, request.name,
                                               request.binding, /*is_oracle=*/false, compile_jobs));
  const std::optional<std::string> other = AsOnAGpu(request.source);
  bool as_on_a_gpu = false;
  if (const CompiledModule* failure = FirstFailedModule(job.candidate)) {
    cannot.detail = "it does not compile there: " + failure->digest;
    // A text may keep itself from compiling by asking for a macro that only the simulated GPU's compiler has. The code
    // that a GPU runs does not ask.
    if (!other) return cannot;
    Result<CompiledProgram> compiled =
        Compile(simulated.compiler(), task, *other, request.name, request.binding, /*is_oracle=*/false, compile_jobs);
    if (!compiled.ok() || FirstFailedModule(*compiled) != nullptr) return cannot;
    job.candidate = *std::move(compiled);
    as_on_a_gpu = true;
  }
  if (reference != nullptr) {
    job.reference = std::move(reference);
  } else {
    HONE_ASSIGN_OR_RETURN(job.oracle, Compile(simulated.compiler(), task, task.oracle_source, task.name + "/oracle.cu",
                                              {}, /*is_oracle=*/true, compile_jobs));
    if (const CompiledModule* failure = FirstFailedModule(job.oracle)) {
      cannot.detail = "the oracle does not compile there: " + failure->digest;
      return cannot;
    }
  }
  if (!task.seed_source.empty()) {
    // The seed runs the shapes that the candidate's plan leaves out.
    Result<CompiledProgram> seed = Compile(simulated.compiler(), task, task.seed_source, task.name + "/seed.cu", {},
                                           /*is_oracle=*/false, compile_jobs);
    if (seed.ok() && FirstFailedModule(*seed) == nullptr) job.fallback = *std::move(seed);
  }
  job.options = request;
  job.options.time = job.options.profile = job.options.libraries = false;
  job.launch_limit_seconds = launch_limit_seconds;
  HONE_ASSIGN_OR_RETURN(Evaluation judged, simulated.Judge(job, {}));
  if (as_on_a_gpu) {
    if (judged.verdict != Verdict::kOk) judged.detail = "in the code that the text has for a GPU, " + judged.detail;
    return judged;
  }
  if (!other || (judged.verdict != Verdict::kOk && judged.verdict != Verdict::kWrongOutput)) return judged;
  return JudgeWhatTheGpuRan(simulated, task, request, *other, compile_jobs, std::move(job), std::move(judged));
}

}  // namespace hone
