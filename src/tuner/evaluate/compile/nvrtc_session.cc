// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// See nvrtc_session.h. NVRTC accepts a precompiled header only at the heap address at which it was made. So a header
// can be used only in the process that made it, or in a fork of that process.
#include "tuner/evaluate/compile/nvrtc_session.h"

#include <string_view>

#include <fmt/format.h>

#include "base/process/subprocess.h"

namespace hone {
namespace {

// The prelude is included as a header. A precompiled header ends at the stop pragma or at the main file's first
// declaration, whichever comes first; with the prelude's text in the main file, its declarations would be compiled
// again with every candidate.
constexpr const char* kPreludeHeader = "hone-prelude.h";
constexpr std::string_view kPreludeInclude = "#include \"hone-prelude.h\"\n#pragma nv_hdrstop\n";
constexpr const char* kPchFile = "prelude.pch";
// Limit on the bytes of a log that are kept, from its beginning and its end, because a source can make a compiler print
// without end.
constexpr int64_t kMaxLogBytes = 4 << 20;

// Removes the lines of the log in which NVRTC reports its use of a precompiled header. Returns whether it used one.
bool TakePchLines(std::string& log) {
  bool was_used = false;
  std::string kept_lines;
  kept_lines.reserve(log.size());
  std::string_view unread_log = log;
  while (!unread_log.empty()) {
    const size_t end = unread_log.find('\n');
    const std::string_view line = unread_log.substr(0, end == std::string_view::npos ? end : end + 1);
    unread_log.remove_prefix(line.size());
    if (line.find("using precompiled header file") != std::string_view::npos) {
      was_used = true;
    } else {
      kept_lines += line;
    }
  }
  log = std::move(kept_lines);
  return was_used;
}

}  // namespace

Result<std::unique_ptr<NvrtcSession>> NvrtcSession::Make(NvrtcSetup setup) {
  const std::string plain_prelude = std::move(setup.plain_prelude);
  setup.plain_prelude.clear();
  Result<std::unique_ptr<NvrtcSession>> session = MakeWith(setup);
  if (session.ok() || plain_prelude.empty()) return session;
  setup.prelude = plain_prelude;
  return MakeWith(std::move(setup));
}

// Loads NVRTC, and precompiles the prelude.
Result<std::unique_ptr<NvrtcSession>> NvrtcSession::MakeWith(NvrtcSetup setup) {
  std::unique_ptr<NvrtcSession> session(new NvrtcSession);
  HONE_ASSIGN_OR_RETURN(session->library_, LoadNvrtcFrom(setup.library));
  session->setup_ = std::move(setup);
  session->setup_.headers.emplace_back(kPreludeHeader, session->setup_.prelude);
  const NvrtcLibrary& library = *session->library_;
  const bool try_pch = library.has_pch() && session->setup_.pch_heap_bytes > 0 &&
                       library.set_pch_heap_size(static_cast<size_t>(session->setup_.pch_heap_bytes)) == NvrtcLibrary::kSuccess;
  // The precompiled header ends at the stop pragma; the kernel after it makes the text a complete program.
  const std::string source = std::string(kPreludeInclude) + "__global__ void hone_prelude_kernel() {}\n";
  if (try_pch) {
    const NvrtcReply prelude_reply = session->Run(
        source, "prelude.cu", {},
        {fmt::format("--create-pch={}", kPchFile), fmt::format("--pch-dir={}", session->setup_.pch_directory)});
    if (prelude_reply.ok) {
      // A trial compile shows whether the header is used: if its heap was too small, NVRTC reports no error.
      session->pch_ = true;
      session->pch_ = session->Compile({"probe.cu", "__global__ void hone_prelude_kernel() {}\n", {}}).pch_used;
      return session;
    }
  }
  const NvrtcReply plain_reply = session->Run(source, "prelude.cu", {}, {});
  if (!plain_reply.ok) {
    return Status::Unavailable(fmt::format("NVRTC {}.{} could not compile Hone's own prelude ({}): {}", library.major,
                                           library.minor, plain_reply.error, plain_reply.log));
  }
  return session;
}

NvrtcReply NvrtcSession::Compile(const NvrtcJob& job) const {
  std::vector<std::string> more;
  if (pch_) {
    more = {fmt::format("--use-pch={}", kPchFile), fmt::format("--pch-dir={}", setup_.pch_directory),
            "--pch-verbose=true"};
  }
  std::string source(kPreludeInclude);
  source += job.body;
  return Run(source, job.file, job.kernels, more);
}

// Compiles a source, and returns its image with the names of its kernels, or the log.
NvrtcReply NvrtcSession::Run(const std::string& source, const std::string& file, const std::vector<std::string>& kernels,
                             const std::vector<std::string>& more_options) const {
  const NvrtcLibrary& nvrtc = *library_;
  NvrtcReply reply;
  std::vector<const char*> header_names, header_texts, options;
  for (const auto& [name, text] : setup_.headers) {
    header_names.push_back(name.c_str());
    header_texts.push_back(text.c_str());
  }
  for (const std::string& option : setup_.options) options.push_back(option.c_str());
  for (const std::string& option : more_options) options.push_back(option.c_str());

  NvrtcLibrary::Program program = nullptr;
  NvrtcLibrary::Code code = nvrtc.create_program(&program, source.c_str(), file.c_str(),
                                                 static_cast<int>(header_names.size()), header_texts.data(),
                                                 header_names.data());
  if (code != NvrtcLibrary::kSuccess) {
    reply.error = nvrtc.error_string(code);
    return reply;
  }
  for (const std::string& kernel : kernels) {
    code = nvrtc.add_name_expression(program, kernel.c_str());
    if (code != NvrtcLibrary::kSuccess) break;
  }
  if (code == NvrtcLibrary::kSuccess) code = nvrtc.compile_program(program, static_cast<int>(options.size()), options.data());
  reply.ok = code == NvrtcLibrary::kSuccess;
  reply.rejected = code == NvrtcLibrary::kCompilationError;
  if (!reply.ok) reply.error = nvrtc.error_string(code);

  size_t size = 0;
  if (nvrtc.get_log_size(program, &size) == NvrtcLibrary::kSuccess && size > 1) {
    std::string log(size, '\0');
    if (nvrtc.get_log(program, log.data()) == NvrtcLibrary::kSuccess) {
      std::erase(log, '\0');  // NVRTC ends the log with a NUL, and ptxas may end its part with another
      reply.pch_used = TakePchLines(log);
      CappedText capped(kMaxLogBytes);
      capped.Append(log.data(), log.size());
      reply.log = capped.Text();
    }
  }
  if (reply.ok) {
    for (const std::string& kernel : kernels) {
      const char* lowered = nullptr;
      if (nvrtc.get_lowered_name(program, kernel.c_str(), &lowered) == NvrtcLibrary::kSuccess && lowered != nullptr) {
        reply.lowered[kernel] = lowered;
      }
    }
    size = 0;
    if (nvrtc.get_cubin_size(program, &size) == NvrtcLibrary::kSuccess && size > 0) {
      reply.cubin.resize(size);
      if (nvrtc.get_cubin(program, reply.cubin.data()) != NvrtcLibrary::kSuccess) reply.cubin.clear();
    }
    if (reply.cubin.empty()) {
      reply.ok = false;
      reply.error = "NVRTC made no machine code";
    }
  }
  nvrtc.destroy_program(&program);
  return reply;
}

}  // namespace hone
