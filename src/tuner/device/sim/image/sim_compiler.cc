// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Compiles a unit in steps: text, object, names of its dynamic shared memory, shared library, a check of its imports.
#include "tuner/device/sim/image/sim_compiler.h"

#include <cxxabi.h>
#include <dlfcn.h>
#include <fmt/format.h>
#include <signal.h>
#include <stdlib.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <map>
#include <mutex>
#include <set>
#include <sstream>
#include <vector>

#include "base/clock.h"
#include "base/cpu_features.h"
#include "base/files/file.h"
#include "base/numbers/hash.h"
#include "base/process/subprocess.h"
#include "tuner/core/program/include_directives.h"
#include "tuner/core/program/translation_unit.h"
#include "tuner/device/sim/cuda/ptx_rewrite.h"
#include "tuner/device/sim/image/elf_symbols.h"
#include "tuner/device/sim/image/embedded_headers.h"
#include "tuner/device/sim/image/image_symbols.h"
#include "tuner/device/sim/image/math_functions.h"
#include "tuner/device/sim/image/source_guard.h"
#include "tuner/device/sim/image/unseen_accesses.h"
#include "tuner/device/sim/image/work_count.h"
#include "tuner/device/sim/sim_layout.h"
#include "tuner/device/sim/worker/hooks.h"

namespace hone {

namespace {

using sim::ElfSymbol;

// C++ that is appended to the candidate's preprocessed text, so that no macro of the candidate affects it. Invoke turns
// an array of value addresses into a call with the kernel's own parameter types. The pointer is volatile so that the
// kernel is not inlined into this function, which has no hooks.
constexpr std::string_view kEntrySupport = R"cpp(
# 1 "hone-entries"
namespace hone_sim_entry {
template <typename T> struct Plain { using type = T; };
template <typename T> struct Plain<const T> { using type = T; };
template <typename T> struct Plain<volatile T> { using type = T; };
template <typename T> struct Plain<const volatile T> { using type = T; };
template <typename T> struct Plain<T&> : Plain<T> {};
template <unsigned... I> struct Numbers {};
template <unsigned n, unsigned... I> struct Count : Count<n - 1, n - 1, I...> {};
template <unsigned... I> struct Count<0, I...> { using type = Numbers<I...>; };
template <typename... P, unsigned... I>
__attribute__((no_sanitize_thread)) void Call(void (*volatile kernel)(P...), const void* const* values, Numbers<I...>) {
  (void)values;
  kernel(*static_cast<const typename Plain<P>::type*>(values[I])...);
}
template <typename... P>
__attribute__((no_sanitize_thread)) void Invoke(void (*kernel)(P...), const void* const* values) {
  Call(kernel, values, typename Count<sizeof...(P)>::type());
}
}  // namespace hone_sim_entry
extern "C" {
extern thread_local char hone_shared_anchor;
__attribute__((visibility("default"), no_sanitize_thread)) void* hone_touch_shared() { return &hone_shared_anchor; }
__attribute__((visibility("default"), no_sanitize_thread)) const void* hone_touch_displacement() { return &hone_sim_displacement; }
}
)cpp";

// This text stands before every candidate. Headers of the standard library call the simulator's copies. The first line leaves
// C++17's special functions (Bessel's, elliptic integrals) out of <cmath>: device code has none, and g++ would compile
// their 140 templates for every candidate, since a precompiled header only lists the templates that its functions need.
// <cmath> would include further headers together with them; the text includes those by name.
constexpr std::string_view kPrelude =
    "// Generated: what stands before every candidate.\n"
    "#define _GLIBCXX_BITS_SPECFUN_H 1\n"
    "#include <string.h>\n"
    "#define __builtin_memcpy(...) ::memcpy(__VA_ARGS__)\n#define __builtin_memmove(...) ::memmove(__VA_ARGS__)\n"
    "#define __builtin_memset(...) ::memset(__VA_ARGS__)\n#include <math.h>\n#include <stdlib.h>\n"
    "#include <limits>\n#include <type_traits>\n#include <bits/stl_algobase.h>\n"
    "#undef __builtin_memcpy\n#undef __builtin_memmove\n#undef __builtin_memset\n#include \"hone_cuda.h\"\n"
    "#ifdef HONE_SIM_CUTE\n#include \"hone_cute.h\"\n#endif\n";

// Part of the compiler's fingerprint, and so of the key under which compiled candidates and refusals are cached. The
// number grows whenever PTX is translated, or a source judged, by other rules.
constexpr std::string_view kRules = "rules 13\n";

constexpr const char* kInlineAll[] = {"-finline-functions", "--param=max-inline-insns-single=100000",
                                      "--param=max-inline-insns-auto=100000", "--param=inline-unit-growth=10000",
                                      "--param=large-function-growth=10000", "--param=large-stack-frame-growth=10000",
                                      "--param=early-inlining-insns=100000"};

// Functions, besides mathematics and the simulator's own, that compiled code may call.
constexpr std::string_view kAllowedImports[] = {
    "__tls_get_addr", "abort", "__cxa_guard_acquire", "__cxa_guard_release",
    "__cxa_pure_virtual", "_ZdlPv", "_ZdlPvm", "_GLOBAL_OFFSET_TABLE_"};
// The device heap's functions, which are legal in CUDA but not simulated.
constexpr std::string_view kDeviceHeap[] = {"malloc", "free", "calloc", "_Znwm", "_Znam", "_ZdaPv", "_ZdaPvm"};

constexpr int64_t kMaxStaticShared = 48 * 1024;  // bytes of static shared memory that a GPU allows

// Returns the C++ name of a symbol; the symbol itself if it is no mangled name.
std::string DemangledName(const std::string& name) {
  int status = 0;
  char* text = abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status);
  if (status != 0 || text == nullptr) return name;
  std::string result(text);
  free(text);
  return result;
}

// Returns whether the host's mathematical library itself defines a function.
bool IsInMathLibrary(const std::string& name) {
  static void* const library = dlopen("libm.so.6", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return false;
  // dlsym also searches libm's dependencies; only symbols defined by libm itself count.
  void* const symbol = dlsym(library, name.c_str());
  Dl_info info;
  return symbol != nullptr && dladdr(symbol, &info) != 0 && info.dli_fname != nullptr &&
         std::string_view(info.dli_fname).find("libm") != std::string_view::npos;
}

// Returns directives that rename the kernels that are called like a function of the host's C library (select, index,
// read), because the host's headers declare those. CUDA's headers do not, and a candidate never calls them. The text
// that follows keeps its line numbers.
std::string RenamedKernels(const std::vector<std::string>& kernels) {
  std::string text;
  std::set<std::string> done;
  for (const std::string& kernel : kernels) {
    const std::string name = kernel.substr(0, kernel.find('<'));
    const bool is_plain_name = !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
      return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
    });
    if (!is_plain_name || sim::CostOfMathFunction(name) || !done.insert(name).second) continue;
    static void* const library = dlopen("libc.so.6", RTLD_NOW | RTLD_LOCAL);
    if (library != nullptr && dlsym(library, name.c_str()) != nullptr) text += fmt::format("#define {0} hone_kernel_{0}\n", name);
  }
  return text.empty() ? text : text + "#line 1\n";
}

constexpr double kWallLimits = 10;  // the limit on the clock, in limits on processor time

// Returns whether a compiler was ended for taking too long: by a time limit, or by the kernel for its processor time.
// The driver survives the compiler proper and reports its end.
bool TookTooLong(const SubprocessResult& result) {
  if (result.timed_out) return true;
  if (result.exit.signal == SIGXCPU || result.exit.signal == SIGKILL) return true;
  return result.err.find("CPU time limit exceeded signal terminated program") != std::string::npos ||
         result.err.find("Killed signal terminated program") != std::string::npos;
}

// Returns whether something else ended a compiler: a batch system that requeues a job signals all its processes, which
// says nothing about the source. The driver may survive the compiler proper and report its end.
bool EndedFromOutside(const SubprocessResult& result) {
  const int signal = result.exit.signal;
  if (signal == SIGTERM || signal == SIGINT || signal == SIGHUP || signal == SIGQUIT) return true;
  for (const char* name : {"Terminated", "Interrupt", "Hangup", "Quit"}) {
    if (result.err.find(fmt::format("{} signal terminated program", name)) != std::string::npos) return true;
  }
  return false;
}

// Returns the first eight errors, each with the source line that the compiler shows below it, and with paths relative
// to the folder `scratch`.
std::string DigestOf(const std::string& log, const std::string& scratch) {
  std::istringstream lines(log);
  std::string line, digest;
  int errors = 0, shown = 0;
  while (std::getline(lines, line)) {
    const bool starts = line.find(": error: ") != std::string::npos || line.find(": fatal error: ") != std::string::npos;
    // These errors come from a brace that the candidate's text leaves open. They lie in the text that follows it, and
    // would tell the author nothing.
    if (starts && errors > 0 && line.starts_with("hone-plan-checks:")) {
      shown = 0;
      continue;
    }
    if (starts) {
      if (++errors > 8) continue;
      shown = 3;
    }
    if (shown > 0 && errors <= 8) {
      --shown;
      size_t at;
      while (!scratch.empty() && (at = line.find(scratch + "/")) != std::string::npos) line.erase(at, scratch.size() + 1);
      if (line.size() > 240) line = line.substr(0, 240) + " …";
      digest += line + "\n";
    }
  }
  if (errors > 8) digest += fmt::format("({} more errors)\n", errors - 8);
  if (errors == 0) digest = log.substr(0, 2000);
  return digest;
}

// Returns a type or a signature without blanks and in one spelling, so that g++'s names compare equal with the plan's:
// "unsigned int" is "unsigned" on both sides, for example.
std::string UniformSpelling(std::string text) {
  for (const auto& [from, to] : {std::pair<std::string, std::string>{"unsigned int", "unsigned"},
                                 {"void ", ""}, {"(int)", ""}, {"(bool)1", "true"}, {"(bool)0", "false"}}) {
    for (size_t at; (at = text.find(from)) != std::string::npos;) text.replace(at, from.size(), to);
  }
  std::erase_if(text, [](char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; });
  // 8u and 8 name the same template argument.
  std::string without_suffixes;
  for (size_t i = 0; i < text.size(); ++i) {
    if ((text[i] == 'u' || text[i] == 'l') && i > 0 && std::isdigit(static_cast<unsigned char>(text[i - 1]))) continue;
    without_suffixes += text[i];
  }
  return without_suffixes;
}

// Returns the static shared memory of each kernel. An array declared in a kernel's body belongs to that kernel; one of
// a device function, of file scope, or of a kernel whose name cannot be recognised counts for all kernels.
std::vector<int64_t> StaticSharedBytes(const std::vector<ElfSymbol>& object, const std::vector<std::string>& kernels) {
  std::vector<int64_t> bytes(kernels.size(), 0);
  for (const ElfSymbol& symbol : object) {
    if (!symbol.thread_local_data || !symbol.defined || sim::IsGuardSymbol(symbol.name)) continue;
    const std::string name = UniformSpelling(DemangledName(symbol.name));
    size_t owner = kernels.size();
    for (size_t i = 0; i < kernels.size(); ++i) {
      const std::string kernel = UniformSpelling(kernels[i]);
      if (name.rfind(kernel + "(", 0) == 0) owner = i;
    }
    for (size_t i = 0; i < kernels.size(); ++i) {
      if (owner == kernels.size() || owner == i) bytes[i] += static_cast<int64_t>(symbol.size);
    }
  }
  return bytes;
}

// Returns one sentence if the compiler stopped at a part of CUDA's toolkit that the simulator's subset lacks.
std::optional<std::string> AbsentPart(const std::string& log) {
  constexpr std::string_view kFolders[] = {"cub/", "cuda/", "thrust/", "nv/", "cooperative_groups/", "cutlass/", "cute/",
                                           "cuda_", "curand", "cublas", "cusparse", "sm_", "device_", "crt/", "nvtx"};
  constexpr std::string_view kNamespaces[] = {"cub", "cuda", "thrust", "cute", "cutlass", "nvcuda::exec"};
  const auto begins = [](std::string_view text, std::string_view with) { return text.substr(0, with.size()) == with; };
  std::istringstream lines(log);
  for (std::string line; std::getline(lines, line);) {
    if (const size_t at = line.find("fatal error: "); at != std::string::npos) {
      const std::string_view message = std::string_view(line).substr(at + 13);
      // A toolkit's header may be in g++'s search path, but not readable in the sandbox.
      const size_t end = std::min(message.find(": No such file or directory"), message.find(": Permission denied"));
      if (end == std::string_view::npos) return std::nullopt;
      std::string_view header = message.substr(0, end);
      if (const size_t folder = header.rfind("/include/"); folder != std::string_view::npos) header.remove_prefix(folder + 9);
      for (const std::string_view folder : kFolders) {
        if (begins(header, folder)) {
          return fmt::format("the simulated GPU has no <{}>: it runs CUDA C++ without the toolkit's libraries (CUB, cuda::std, "
                             "Thrust); a GPU may judge this candidate", header);
        }
      }
      return std::nullopt;
    }
    if (line.find(": error: ") == std::string::npos) continue;
    // Only the first error counts: later ones may follow from it.
    for (const std::string_view name : kNamespaces) {
      for (const char* gcc_message :
           {"error: ‘{}’ has not been declared", "error: ‘{}’ is not a namespace-name",
            "error: ‘{}’ does not name a type", "error: '{}' has not been declared",
            "error: '{}' is not a namespace-name", "is not a member of ‘{}’", "is not a member of '{}'"}) {
        if (line.find(fmt::format(fmt::runtime(gcc_message), name)) == std::string::npos) continue;
        return fmt::format("the simulated GPU has not all of '{}': it runs CUDA C++ without the toolkit's libraries (CUB, "
                           "cuda::std, Thrust); a GPU may judge this candidate", name);
      }
    }
    return std::nullopt;
  }
  return std::nullopt;
}

// Removes the text after the first mark from `text` and returns the names between the marks; nullopt when a mark is
// missing.
std::optional<std::vector<std::string>> TakeNames(std::string* text, const std::string& mark) {
  std::vector<std::string> names;
  const std::string begin = mark + "_begin\n", end = mark + "_end";
  const size_t first = text->find(begin);
  for (size_t at = first; at != std::string::npos; at = text->find(begin, at)) {
    at += begin.size();
    const size_t stop = text->find(end, at);
    if (stop == std::string::npos) return std::nullopt;
    std::istringstream lines(text->substr(at, stop - at));
    std::string name;
    for (std::string line; std::getline(lines, line);) {
      if (!line.empty() && line[0] != '#') name += line + " ";
    }
    while (!name.empty() && name.back() == ' ') name.pop_back();
    names.push_back(std::move(name));
    at = stop;
  }
  if (first != std::string::npos) text->resize(first);
  return names;
}

// Replaces the compiler's own memcpy and the like, which it would expand without hooks, by calls of the simulator's
// copies: std::copy_n is one __builtin_memmove. `text` is preprocessed, and the simulator's own headers are no part of
// it.
std::string CopiesSeen(std::string text) {
  for (const std::string_view name : {"__builtin_memcpy", "__builtin_memmove", "__builtin_memset", "__builtin_mempcpy"}) {
    for (size_t at = 0; (at = text.find(name, at)) != std::string::npos;) {
      const auto part = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
      const bool is_whole_word =
          (at == 0 || !part(text[at - 1])) && (at + name.size() == text.size() || !part(text[at + name.size()]));
      if (is_whole_word) {
        // The words keep their length, so that columns in messages stay.
        text.replace(at, 10, "::        ");
      }
      at += name.size();
    }
  }
  return text;
}

constexpr std::string_view kWithCute = "-DHONE_SIM_CUTE";

// Returns the first of CuTe's names in `body` that represents an instruction which host code knows only by name: copy
// and product atoms of an architecture (SM80_…), descriptors, warp groups, the copy engine, CUTLASS's barriers.
std::optional<std::string> HardwareOperation(std::string_view body) {
  const auto part = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  for (size_t at = 0; at < body.size();) {
    if (!part(body[at])) {
      // Comments are skipped.
      if (body.substr(at, 2) == "//") {
        at = std::min(body.find('\n', at), body.size());
      } else if (body.substr(at, 2) == "/*") {
        const size_t end = body.find("*/", at + 2);
        at = end == std::string_view::npos ? body.size() : end + 2;
      } else {
        ++at;
      }
      continue;
    }
    size_t end = at;
    while (end < body.size() && part(body[end])) ++end;
    const std::string_view word = body.substr(at, end - at);
    at = end;
    const bool architecture = word.size() > 4 && word.substr(0, 2) == "SM" && std::isdigit(static_cast<unsigned char>(word[2])) != 0 &&
                              std::isdigit(static_cast<unsigned char>(word[3])) != 0;
    const bool engine = word == "GMMA" || word == "UMMA" || word == "TMEM" || (word == "arch" && body.substr(at, 2) == "::") || word.substr(0, 10) == "warpgroup_" ||
                        word.substr(0, 4) == "tma_" || word.substr(0, 8) == "cluster_";
    if (architecture || engine) return std::string(word);
  }
  return std::nullopt;
}

class SimCompiler : public Compiler {
 public:
  SimCompiler(SimCompilerOptions options, std::string cxx) : options_(std::move(options)), cxx_(std::move(cxx)) {}

  Status Prepare();
  Result<CompiledModule> Compile(const TranslationUnit& unit) override;
  std::string Fingerprint() const override { return fingerprint_; }

 private:
  std::vector<std::string> IncludePaths(const std::vector<std::string>& variant) const;
  Status Precompile(const std::vector<std::string>& variant);
  Result<SubprocessResult> RunCompiler(const std::vector<std::string>& arguments, const std::string& scratch) const;
  // Runs g++ -E on `text`, with the precompiled header named but not read; Compile continues with the result.
  Result<SubprocessResult> Preprocess(const std::string& text, const std::vector<std::string>& variant,
                                      const TemporaryDirectory& folder, const std::string& name) const;
  Status CheckImports(const std::string& image, CompiledModule* module) const;
  std::string AliasAssembly(const std::vector<ElfSymbol>& object, bool* has_dynamic) const;

  SimCompilerOptions options_;
  std::string cxx_;
  std::vector<std::string> flags_;
  std::string fingerprint_;
  std::string include_directory_;   // the CUDA subset
  std::string prelude_directory_;   // prelude.h and prelude.h.gch
  TemporaryDirectory own_cache_;    // used if no cache directory was given
  std::mutex precompile_mutex_;
  std::map<std::vector<std::string>, Status> precompiled_;  // keyed by variant flags
};

// Returns the flags with which g++ compiles every candidate.
std::vector<std::string> CompilerFlags() {
  std::vector<std::string> flags{
      "-std=gnu++20", "-O2", "-g1", "-gdwarf-4", "-fPIC", "-w", "-fmax-errors=50", "-fdiagnostics-color=never",
      // Every load and store calls the simulator; function entries do not; volatile accesses are distinguished.
      "-fsanitize=thread", "--param=tsan-instrument-func-entry-exit=0", "--param=tsan-distinguish-volatile=1",
      // -g1 keeps lines of code and no variables, but g++ still tracks where each variable is: half of the time that a
      // large candidate takes. The machine code is the same without this.
      "-fno-var-tracking",
      // Accesses stay as in the source: not split, joined, made speculatively, or replaced by memset.
      "-fno-tree-sra", "-fno-tree-loop-vectorize", "-fno-tree-slp-vectorize", "-fno-store-merging",
      "-fno-tree-loop-distribute-patterns", "-fno-hoist-adjacent-loads", "-fno-split-paths",
      // Two calls stay two positions, each with its line.
      "-fno-crossjumping", "-fno-tree-tail-merge", "-fno-optimize-sibling-calls",
      // Shared memory is thread-local data addressed by __tls_get_addr, never by the initial-exec model.
      "-fno-extern-tls-init", "-ftls-model=global-dynamic",
      // Copies and comparisons are calls to the simulator: g++ would otherwise expand them without hooks. The CUDA
      // subset expands those that are one load and one store.
      "-fno-builtin-memcpy", "-fno-builtin-memmove", "-fno-builtin-memset", "-fno-builtin-memcmp", "-fno-builtin-mempcpy",
      "-fno-builtin-strlen", "-fno-builtin-strcmp", "-fno-builtin-strncmp", "-fno-builtin-strcpy", "-fno-builtin-memchr",
      "-fno-builtin-bcopy", "-fno-builtin-bzero", "-fno-builtin-bcmp",
      // These follow CUDA's rules where C++ has undefined behaviour, and nvcc's default contraction of multiply and
      // add.
      "-fno-strict-aliasing", "-fwrapv", "-fno-delete-null-pointer-checks", "-fno-aggressive-loop-optimizations",
      "-fno-math-errno", "-fno-trapping-math", "-ffp-contract=fast",
      "-fvisibility=hidden", "-fno-semantic-interposition", "-fno-plt", "-fno-exceptions", "-fno-rtti",
      "-fno-threadsafe-statics", "-fno-asynchronous-unwind-tables", "-fno-stack-protector", "-fcf-protection=none",
      "-fno-ident", "-U_FORTIFY_SOURCE",
      // The counting code (work_count.h) uses the stack below a function's frame.
      "-mno-red-zone"};
#if defined(__x86_64__)
  // A long double has 64 bits, as on a GPU, so that its size does not tell a simulated GPU from a real one.
  flags.emplace_back("-mlong-double-64");
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && CpuHasF16c()) {
    for (const char* flag : {"-mavx2", "-mfma", "-mf16c"}) flags.push_back(flag);
  }
#endif
  return flags;
}

// Finds the compiler and its headers, and makes the folders of the cache.
Status SimCompiler::Prepare() {
  flags_ = CompilerFlags();
  if (options_.cache_directory.empty()) {
    HONE_ASSIGN_OR_RETURN(own_cache_, MakeTemporaryDirectory(options_.scratch_directory, "hone-sim-cache-"));
    options_.cache_directory = own_cache_.path();
  }
  HONE_RETURN_IF_ERROR(MakeDirectories(options_.cache_directory));
  // The path must be absolute, as in the sandbox's rules.
  char* const absolute = realpath(options_.cache_directory.c_str(), nullptr);
  if (absolute != nullptr) {
    options_.cache_directory = absolute;
    free(absolute);
  }
  const std::string scratch = options_.scratch_directory.empty() ? "/tmp" : options_.scratch_directory;
  HONE_RETURN_IF_ERROR(MakeDirectories(scratch));
  HONE_ASSIGN_OR_RETURN(const TemporaryDirectory folder, MakeTemporaryDirectory(scratch, "hone-sim-"));
  HONE_ASSIGN_OR_RETURN(const SubprocessResult version, RunCompiler({"--version"}, folder.path()));
  if (!version.exit.success()) {
    return Status::Unavailable(fmt::format("'{} --version' failed ({}): {}", cxx_, version.exit.Describe(), version.err));
  }
  std::string identity = cxx_ + "\n" + version.out + "\n";
  for (const std::string& flag : flags_) identity += flag + "\n";
  if (!options_.cute.cutlass.empty())
    identity += fmt::format("{} {} {}\n", options_.cute.cutlass, options_.cute.version, options_.cute.cccl);
  identity += PlanCheckTemplates();
  identity += kEntrySupport;
  identity += kPrelude;
  identity += kRules;
  if (options_.header_directory.empty()) {
    for (const sim::EmbeddedHeader& header : sim::EmbeddedHeaders()) {
      identity += fmt::format("{}\n{}\n", header.path, header.text);
    }
  } else {
    identity += options_.header_directory;
  }
  const std::string hash = Sha256Hex(identity).substr(0, 16);
  fingerprint_ = fmt::format("sim {} {}{}", version.out.substr(0, version.out.find('\n')), hash, options_.guard_text ? "" : " unguarded");
  prelude_directory_ = options_.cache_directory + "/sim-" + hash;
  include_directory_ = options_.header_directory;
  if (options_.header_directory.empty()) {
    include_directory_ = prelude_directory_ + "/include";
    for (const sim::EmbeddedHeader& header : sim::EmbeddedHeaders()) {
      const std::string path = include_directory_ + "/" + std::string(header.path);
      if (!FileExists(path)) HONE_RETURN_IF_ERROR(WriteFileAtomicallyUnflushed(path, header.text));
    }
  }
  const std::string path = prelude_directory_ + "/prelude.h";
  if (!FileExists(path)) HONE_RETURN_IF_ERROR(WriteFileAtomicallyUnflushed(path, kPrelude));
  return Status::Ok();
}

// Runs g++, confined, with its working directory and temporary files in `scratch`.
Result<SubprocessResult> SimCompiler::RunCompiler(const std::vector<std::string>& arguments,
                                                  const std::string& scratch) const {
  SubprocessOptions run;
  run.argv = {cxx_};
  run.argv.insert(run.argv.end(), arguments.begin(), arguments.end());
  run.environment = {"PATH=/usr/local/bin:/usr/bin:/bin", "LC_ALL=C.UTF-8", "TMPDIR=" + scratch};
  run.working_directory = scratch;
  // A busy host must not make a candidate's compilation time out.
  run.limit_seconds = kWallLimits * options_.limit_seconds;
  run.max_stderr_bytes = 1 << 20;
  SandboxPolicy policy;
  policy.read_paths = SystemReadPaths();
  for (const char* path : {"/usr/include", "/usr/local/include", "/usr/lib/gcc", "/usr/libexec/gcc"}) {
    policy.read_paths.push_back(path);
  }
  for (const std::string& folder : {options_.cute.cutlass, options_.cute.cccl}) {
    if (!folder.empty()) policy.read_paths.push_back(folder);
  }
  policy.read_paths.push_back(options_.cache_directory);
  if (!include_directory_.empty()) policy.read_paths.push_back(include_directory_);
  if (!options_.header_directory.empty()) policy.read_paths.push_back(options_.header_directory + "/..");
  policy.exec_paths = SystemExecPaths();
  for (const char* path : {"/usr/bin", "/usr/local/bin", "/usr/lib/gcc", "/usr/libexec/gcc"}) {
    policy.exec_paths.push_back(path);
  }
  policy.write_paths = {scratch, "/dev/null"};
  policy.processes = 16;
  policy.cpu_seconds = static_cast<int64_t>(std::ceil(options_.limit_seconds));
  policy.memory_bytes = options_.memory_bytes;
  policy.file_bytes = int64_t{1} << 30;
  run.sandbox = policy;
  const auto start = [this](const SubprocessOptions& options) { return options_.run ? options_.run(options) : RunSubprocess(options); };
  SubprocessOptions nothing = run;
  nothing.argv = {cxx_, "-x", "c++", "-E", "/dev/null", "-o", "/dev/null"};
  return sim::RunDespiteShortage([&] { return start(run); }, [&] { return start(nothing); }, options_.shortage);
}

// Returns flags for a plan's compiler options. The other allowed options change no result here.
std::vector<std::string> VariantFlags(const std::vector<std::string>& options) {
  std::vector<std::string> flags;
  for (const std::string& option : options) {
    if (option == "--use_fast_math") flags.push_back("-DHONE_SIM_FAST_MATH");
    if (option == "--fmad=false") flags.push_back("-ffp-contract=off");
  }
  return flags;
}

// Returns the header folders of a variant, including CuTe's if requested.
std::vector<std::string> SimCompiler::IncludePaths(const std::vector<std::string>& variant) const {
  std::vector<std::string> paths;
  const bool cute = std::find(variant.begin(), variant.end(), kWithCute) != variant.end();
  if (cute) paths.push_back("-I" + include_directory_ + "/with_cute");
  paths.push_back("-I" + include_directory_);
  paths.push_back("-I" + include_directory_ + "/..");
  if (cute) {
    for (const std::string& folder : {options_.cute.cutlass, options_.cute.cccl}) {
      paths.emplace_back("-isystem");
      paths.push_back(folder);
    }
  }
  return paths;
}

// Makes prelude.h.gch/<variant>, where g++ searches for a matching file.
Status SimCompiler::Precompile(const std::vector<std::string>& variant) {
  std::lock_guard lock(precompile_mutex_);
  const auto known = precompiled_.find(variant);
  if (known != precompiled_.end()) return known->second;
  std::string name = "plain";
  for (const std::string& flag : variant) name += flag;
  const std::string header = prelude_directory_ + "/prelude.h";
  const std::string target = header + ".gch/" + name;
  const Status status = [&]() -> Status {
    // With a user's header directory the contents may change under the same hash, so the header is precompiled each
    // time.
    if (options_.header_directory.empty() && FileExists(target)) return Status::Ok();
    // The file is made beside prelude.h.gch and moved there when complete: g++ uses any file there whose first bytes
    // match.
    HONE_RETURN_IF_ERROR(MakeDirectories(header + ".gch"));
    HONE_ASSIGN_OR_RETURN(const TemporaryDirectory folder, MakeTemporaryDirectory(prelude_directory_, "precompiled-"));
    const std::string temporary = folder / "prelude.h.gch";
    std::vector<std::string> arguments = flags_;
    arguments.insert(arguments.end(), variant.begin(), variant.end());
    for (std::string& path : IncludePaths(variant)) arguments.push_back(std::move(path));
    for (const std::string& a : {std::string("-x"), std::string("c++-header"), header, std::string("-o"), temporary}) {
      arguments.push_back(a);
    }
    HONE_ASSIGN_OR_RETURN(const SubprocessResult result, RunCompiler(arguments, folder.path()));
    if (!result.exit.success()) {
      return Status::Unavailable(fmt::format("'{}' cannot precompile the simulator's CUDA headers ({}): {}", cxx_,
                                             result.exit.Describe(), DigestOf(result.err, folder.path())));
    }
    std::error_code error;
    std::filesystem::rename(temporary, target, error);
    if (error) return Status::Io(fmt::format("cannot rename '{}' to '{}': {}", temporary, target, error.message()));
    return Status::Ok();
  }();
  if (status.ok()) precompiled_[variant] = status;
  return status;
}

// Preprocesses a source with the flags of a variant (`-D` flags that differ between candidates).
Result<SubprocessResult> SimCompiler::Preprocess(const std::string& text, const std::vector<std::string>& variant,
                                                 const TemporaryDirectory& folder, const std::string& name) const {
  HONE_RETURN_IF_ERROR(WriteFileAtomicallyUnflushed(folder / (name + ".cc"), text));
  std::vector<std::string> arguments = flags_;
  arguments.insert(arguments.end(), variant.begin(), variant.end());
  for (std::string& path : IncludePaths(variant)) arguments.push_back(std::move(path));
  for (const std::string& a :
       {std::string("-E"), std::string("-fpch-preprocess"), std::string("-include"), prelude_directory_ + "/prelude.h", "-ffile-prefix-map=" + folder.path() + "=.", name + ".cc",
        std::string("-o"), name + ".ii"}) {
    arguments.push_back(a);
  }
  return RunCompiler(arguments, folder.path());
}

// Every undefined thread-local name of the object is an extern __shared__ array; all of them name one buffer.
std::string SimCompiler::AliasAssembly(const std::vector<ElfSymbol>& object, bool* has_dynamic) const {
  std::string names;
  for (const ElfSymbol& symbol : object) {
    if (!symbol.thread_local_data || symbol.defined || symbol.name == sim::kSharedAnchor || symbol.name == "hone_sim_work") continue;
    names += fmt::format(".globl \"{0}\"\n.type \"{0}\", @object\n\"{0}\":\n", symbol.name);
  }
  *has_dynamic = !names.empty();
  std::string text = fmt::format(".section .tbss, \"awT\", @nobits\n.p2align {}\n",
                                 __builtin_ctz(sim::kDynamicSharedAlign));
  if (*has_dynamic) {
    text += fmt::format(".globl {0}\n.type {0}, @object\n{0}:\n{1}.zero {2}\n.size {0}, {2}\n", sim::kDynamicShared,
                        names, sim::kMaxDynamicShared);
  }
  text += fmt::format(".globl {0}\n.type {0}, @object\n{0}:\n.zero 1\n.size {0}, 1\n", sim::kSharedAnchor);
  // Without a type and a size, it is no variable of the candidate's (image_symbols.h), whose variables lie before it.
  text += ".section .bss\n.p2align 2\n.globl hone_sim_displacement\n.hidden hone_sim_displacement\nhone_sim_displacement:\n.zero 4\n";
  text += ".section .note.GNU-stack, \"\", @progbits\n";
  return text;
}

// Refuses an image that needs functions which neither the simulator nor the mathematics of the C library has.
Status SimCompiler::CheckImports(const std::string& image, CompiledModule* module) const {
  HONE_ASSIGN_OR_RETURN(const std::vector<ElfSymbol> symbols, sim::ReadElfDynamicSymbols(image));
  std::set<std::string> missing, heap, unlisted;
  for (const ElfSymbol& symbol : symbols) {
    if (symbol.defined || symbol.weak) continue;
    const std::string& name = symbol.name;
    if (name.rfind("hone_sim_", 0) == 0 || name.rfind("__wrap_", 0) == 0) continue;
    if (std::find(std::begin(kAllowedImports), std::end(kAllowedImports), name) != std::end(kAllowedImports)) continue;
    if (std::find(std::begin(kDeviceHeap), std::end(kDeviceHeap), name) != std::end(kDeviceHeap)) {
      heap.insert(DemangledName(name));
    } else if (!sim::CostOfMathFunction(name)) {
      (IsInMathLibrary(name) ? unlisted : missing).insert(DemangledName(name));
    }
  }
  if (!missing.empty()) {
    module->verdict = Verdict::kCompileError;
    module->digest = "error: undefined in device code:";
    for (const std::string& name : missing) module->digest += " '" + name + "'";
  } else if (!unlisted.empty()) {
    module->verdict = Verdict::kUnsupported;
    module->digest = fmt::format("the kernel calls '{}' of the host's mathematical library. The simulated GPU runs the functions of CUDA's "
                                 "mathematics, under CUDA's names (fmaf, lgammaf)", *unlisted.begin());
  } else if (!heap.empty()) {
    // A function that only frees memory is left over from a virtual destructor, say. One that allocates is refused, as
    // on a GPU.
    const auto asks = std::find_if(heap.begin(), heap.end(), [](const std::string& name) {
      return name.find("free") == std::string::npos && name.find("delete") == std::string::npos;
    });
    module->verdict = asks == heap.end() ? Verdict::kUnsupported : Verdict::kRuleViolation;
    module->digest = asks == heap.end()
                         ? fmt::format("the simulated GPU has no device heap, and the kernel calls '{}'", *heap.begin())
                         : fmt::format("the kernel calls '{}' on the device: the device heap keeps state between launches. "
                                       "Declare a [[workspace]] in the launch plan instead", *asks);
  }
  module->log += module->digest;
  return Status::Ok();
}

Result<CompiledModule> SimCompiler::Compile(const TranslationUnit& unit) {
  const Stopwatch watch;
  CompiledModule module;
  const auto finish = [&](Verdict verdict, std::string digest) {
    module.verdict = verdict;
    module.digest = std::move(digest);
    if (module.log.empty()) module.log = module.digest;
    module.seconds = watch.Seconds();
    return module;
  };
  const bool cute = unit.include_set == "cute";
  if (cute && options_.cute.cutlass.empty()) {
    return finish(Verdict::kUnsupported, fmt::format("the simulated GPU has no CuTe here: {}",
                                                     options_.cute.absent.empty() ? "it was given no CUTLASS" : options_.cute.absent));
  }
  if (const std::optional<std::string> name = cute ? HardwareOperation(unit.body) : std::nullopt) {
    return finish(Verdict::kUnsupported,
                  fmt::format("the simulated GPU runs CuTe's layouts, partitions, and copies and products by threads; '{}' is an "
                              "operation of the hardware: judge this candidate on a GPU, or write such a step in plain CUDA", *name));
  }
  if (const auto refusal = JudgeIncludes(unit.body)) return finish(refusal->verdict, refusal->sentence);
  if (const auto refusal = options_.guard_text ? sim::GuardRawSource(unit.body, unit.file) : std::nullopt) {
    return finish(refusal->verdict, refusal->sentence);
  }
  std::vector<std::string> variant = VariantFlags(unit.options);
  if (cute) variant.emplace_back(kWithCute);
  HONE_RETURN_IF_ERROR(Precompile(variant));
  HONE_ASSIGN_OR_RETURN(const TemporaryDirectory folder, MakeTemporaryDirectory(options_.scratch_directory, "hone-sim-"));
  const auto failed = [&](SubprocessResult result) -> Result<CompiledModule> {
    const bool slow = TookTooLong(result), signalled = EndedFromOutside(result);
    module.log = std::move(result.err);
    // This is no compile error, which would be cached. It is no failure of the machine either: a source can make the
    // compiler print such words.
    if (signalled) return finish(Verdict::kTimedOut, "the compiler was ended by a signal from outside before it was through");
    if (slow) {
      return finish(Verdict::kTimedOut, fmt::format("the compiler did not finish in {} s of processor time", options_.limit_seconds));
    }
    // This is the cache's fault and not the candidate's, so it must not be stored as a verdict.
    if (module.log.find("cannot read PCH file") != std::string::npos) {
      return Status::Unavailable(fmt::format("'{}' cannot read its precompiled header in '{}': remove that folder; it is made anew", cxx_,
                                             prelude_directory_ + "/prelude.h.gch"));
    }
    if (const std::optional<std::string> absent = AbsentPart(module.log)) return finish(Verdict::kUnsupported, *absent);
    std::string digest = DigestOf(module.log, folder.path());
    if (digest.empty()) digest = "the compiler ended with " + result.exit.Describe();
    return finish(Verdict::kCompileError, std::move(digest));
  };
  // The candidate's preprocessed text is judged before its PTX is translated to words that candidates may not use.
  HONE_ASSIGN_OR_RETURN(SubprocessResult preprocessed, Preprocess(unit.body, variant, folder, "written"));
  if (preprocessed.timed_out || !preprocessed.exit.success()) return failed(std::move(preprocessed));
  HONE_ASSIGN_OR_RETURN(const std::string preprocessed_source, ReadFile(folder / "written.ii", int64_t{1} << 30));
  if (const auto refusal =
          options_.guard_text ? sim::GuardPreprocessed(preprocessed_source, unit.file) : std::nullopt) {
    return finish(refusal->verdict, refusal->sentence);
  }
  Result<std::string> body = RewriteInlinePtx(unit.body);
  if (!body.ok()) return finish(Verdict::kUnsupported, fmt::format("{}: {}", unit.file, body.status().message()));
  // Kernels' names may contain the candidate's macros, so they are preprocessed with it; their entries are not.
  const std::string mark = "hone_name_" + Sha256Hex(unit.body).substr(0, 24);
  std::string text = RenamedKernels(unit.kernels) + std::move(*body);
  for (const std::string& kernel : unit.kernels) text += fmt::format("\n{0}_begin\n{1}\n{0}_end\n", mark, kernel);
  HONE_ASSIGN_OR_RETURN(SubprocessResult translated, Preprocess(text, variant, folder, "candidate"));
  if (translated.timed_out || !translated.exit.success()) return failed(std::move(translated));
  HONE_ASSIGN_OR_RETURN(text, ReadFile(folder / "candidate.ii", int64_t{1} << 30));
  const std::optional<std::vector<std::string>> names = TakeNames(&text, mark);
  if (!names || names->size() != unit.kernels.size()) {
    return finish(Verdict::kCompileError, fmt::format("{}: error: a macro's argument list, a comment or a condition does not end "
                                                      "before the file does", unit.file));
  }
  if (const auto refusal = options_.guard_text ? sim::GuardTranslated(text, unit.file) : std::nullopt) {
    return finish(refusal->verdict, refusal->sentence);
  }
  text = CopiesSeen(sim::PlainFileNames(text));
  text += PlanCheckText(unit, *names, /*preprocessed=*/true);
  text += kEntrySupport;
  for (size_t i = 0; i < unit.kernels.size(); ++i) {
    const std::string symbol = fmt::format("{}{}", sim::kEntryPrefix, i);
    module.lowered[unit.kernels[i]] = symbol;
    text += fmt::format(
        "extern \"C\" __attribute__((visibility(\"default\"), no_sanitize_thread)) void {}(const void* const* hone_entry_values) {{\n"
        "  hone_sim_entry::Invoke(&{}, hone_entry_values);\n}}\n",
        symbol, (*names)[i]);
  }

  HONE_RETURN_IF_ERROR(WriteFileAtomicallyUnflushed(folder / "candidate.ii", text));
  std::vector<std::string> arguments = flags_;
  arguments.insert(arguments.end(), variant.begin(), variant.end());
  for (const std::string& a : {std::string("-fpreprocessed"), "-ffile-prefix-map=" + folder.path() + "=.", std::string("-S"),
                               std::string("-fdump-tree-optimized=candidate.optimized"), std::string("candidate.ii"),
                               std::string("-o"), std::string("candidate.s")}) {
    arguments.push_back(a);
  }
  SubprocessResult compiled;
  std::string assembly;
  // nvcc inlines nearly everything. If g++ does not, and so hides an access from the hooks, the compilation is repeated
  // with options that inline.
  for (const bool inlining : {false, true}) {
    if (inlining) arguments.insert(arguments.end(), std::begin(kInlineAll), std::end(kInlineAll));
    HONE_ASSIGN_OR_RETURN(compiled, RunCompiler(arguments, folder.path()));
    if (compiled.timed_out || !compiled.exit.success()) return failed(std::move(compiled));
    HONE_ASSIGN_OR_RETURN(assembly, ReadFile(folder / "candidate.s", int64_t{1} << 30));
    HONE_ASSIGN_OR_RETURN(const std::string optimized, ReadFile(folder / "candidate.optimized", int64_t{1} << 30));
    if (sim::HasVariableFrame(assembly, include_directory_)) {
      return finish(Verdict::kUnsupported, fmt::format("{}: an array of variable length, or alloca, is not simulated (nor are the former CUDA): "
                                                       "give local arrays a constant length", unit.file));
    }
    const auto unseen = sim::FindUnseenAccess(optimized, assembly, {"hone_sim_entry", sim::kEntryPrefix});
    if (!unseen) break;
    if (!inlining) continue;
    return finish(Verdict::kUnsupported,
                  fmt::format("{}: in '{}' a function that is not inlined {} an aggregate by value straight {} memory ({}), which the "
                              "simulated GPU cannot see: copy it by a variable of its own, or let the function be inlined",
                              unit.file, unseen->function, unseen->store ? "returns" : "takes", unseen->store ? "to" : "from",
                              unseen->operand));
  }
  HONE_RETURN_IF_ERROR(WriteFileAtomicallyUnflushed(folder / "candidate.s", sim::CountWork(assembly, include_directory_)));
  HONE_ASSIGN_OR_RETURN(SubprocessResult assembled, RunCompiler({"-c", "candidate.s", "-o", "candidate.o"}, folder.path()));
  if (assembled.timed_out || !assembled.exit.success()) return failed(std::move(assembled));
  module.log = std::move(compiled.err);
  module.pch_used = true;
  HONE_ASSIGN_OR_RETURN(const std::string object, ReadFile(folder / "candidate.o", int64_t{1} << 30));
  HONE_ASSIGN_OR_RETURN(const std::vector<ElfSymbol> object_symbols, sim::ReadElfSymbols(object));
  bool has_dynamic = false;
  HONE_RETURN_IF_ERROR(WriteFileAtomicallyUnflushed(folder / "shared.s", AliasAssembly(object_symbols, &has_dynamic)));
  std::string wraps;
  for (const std::string& symbol : sim::WrappedSymbols()) wraps += "-Wl,--wrap=" + symbol + "\n";
  HONE_RETURN_IF_ERROR(WriteFileAtomicallyUnflushed(folder / "wraps", wraps));
  HONE_ASSIGN_OR_RETURN(
      SubprocessResult linked,
      RunCompiler({"-shared", "-nostartfiles", "-nodefaultlibs", "-Wl,-z,now", "-Wl,-z,noexecstack", "-Wl,--build-id=none",
                   "-Wl,--no-undefined-version", "@wraps", "candidate.o", "shared.s", "-lm", "-lc", "-o", "image.so"},
                  folder.path()));
  if (linked.timed_out || !linked.exit.success()) {
    module.log += linked.err;
    if (EndedFromOutside(linked)) return failed(std::move(linked));
    const bool slow = TookTooLong(linked);
    return finish(slow ? Verdict::kTimedOut : Verdict::kCompileError,
                  slow ? "the linker did not finish in time" : DigestOf(linked.err, folder.path()));
  }
  HONE_ASSIGN_OR_RETURN(module.image, ReadFile(folder / "image.so", int64_t{1} << 30));
  HONE_RETURN_IF_ERROR(CheckImports(module.image, &module));
  HONE_ASSIGN_OR_RETURN(const sim::ImageSymbols symbols, sim::ReadImageSymbols(module.image));
  module.globals = symbols.globals;
  const std::vector<int64_t> static_shared = StaticSharedBytes(object_symbols, unit.kernels);
  for (size_t i = 0; i < unit.kernels.size(); ++i) {
    KernelResources resources;
    resources.kernel = unit.kernels[i];
    resources.static_shared_bytes = static_shared[i];
    module.resources.push_back(resources);
    if (module.verdict == Verdict::kOk && static_shared[i] > kMaxStaticShared) {
      module.verdict = Verdict::kResourceLimit;
      module.digest = fmt::format("{} has {} bytes of static shared memory: {} are allowed; ask for more as dynamic "
                                  "shared memory", unit.kernels[i], static_shared[i], kMaxStaticShared);
    }
  }
  module.seconds = watch.Seconds();
  return module;
}

}  // namespace

Result<std::unique_ptr<Compiler>> MakeSimCompiler(const SimCompilerOptions& options) {
  const std::string name = options.cxx.empty() ? "g++" : options.cxx;
  Result<std::string> cxx = FindExecutable(name, {"/usr/bin", "/usr/local/bin"});
  if (!cxx.ok()) {
    return Status::Unavailable(fmt::format("the simulated GPU compiles candidates with g++ (12 or newer), which is not "
                                           "there: {}; on Debian and Ubuntu: apt install g++",
                                           cxx.status().message()));
  }
  auto compiler = std::make_unique<SimCompiler>(options, *cxx);
  HONE_RETURN_IF_ERROR(compiler->Prepare());
  return std::unique_ptr<Compiler>(std::move(compiler));
}

}  // namespace hone
