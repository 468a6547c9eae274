// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// A session uses NVRTC directly, in this process, for any number of compiles with one set of options and one
// precompiled header. A zygote makes the session, and the zygote's forked children compile with it. Tests may do both
// in one process, which a hostile source can then crash.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "hone/base/status.h"
#include "tuner/evaluate/compile/nvrtc_library.h"

namespace hone {

struct NvrtcSetup {
  std::string library;               // path of libnvrtc
  std::vector<std::string> options;  // complete: architecture, standard, include directories, the plan's own
  std::string prelude;               // contents of the precompiled header
  std::string plain_prelude;         // replaces `prelude` if that does not compile; empty: no substitute
  std::vector<std::pair<std::string, std::string>> headers;  // name and text of headers that NVRTC gets from memory
  std::string pch_directory;   // folder of the precompiled header: the session writes it, its children read it
  int64_t pch_heap_bytes = 0;  // NVRTC's heap for the precompiled header; 0: no precompiled header
};

struct NvrtcJob {
  std::string file;                  // name of the source in messages
  std::string body;                  // the source, without the prelude
  std::vector<std::string> kernels;  // name expressions of the kernels, as in "scale<float>"
};

struct NvrtcReply {
  bool ok = false;
  std::string error;      // when !ok: NVRTC's name for the error
  bool rejected = false;  // the source is at fault (a compilation error), not the options or NVRTC
  std::string log;
  std::string cubin;
  std::map<std::string, std::string> lowered;  // keyed by name expression: the kernel's symbol in the cubin
  bool pch_used = false;                       // the precompiled header was used
};

// A session is not thread-safe.
class NvrtcSession {
 public:
  // Loads NVRTC and writes the precompiled header. Without PCH support, or when the header does not fit its heap, the
  // session works all the same and pch() is false. Returns kUnavailable, with the compiler's log, when the prelude
  // itself does not compile: NVRTC does not know the architecture, say, or a header was not found.
  static Result<std::unique_ptr<NvrtcSession>> Make(NvrtcSetup setup);

  NvrtcReply Compile(const NvrtcJob& job) const;

  bool pch() const { return pch_; }
  const NvrtcLibrary& library() const { return *library_; }

 private:
  NvrtcSession() = default;
  // Loads NVRTC, and precompiles the prelude.
  static Result<std::unique_ptr<NvrtcSession>> MakeWith(NvrtcSetup setup);
  // Compiles a source, and returns its image with the names of its kernels, or the log.
  NvrtcReply Run(const std::string& source, const std::string& file, const std::vector<std::string>& kernels,
                 const std::vector<std::string>& more_options) const;

  NvrtcSetup setup_;
  std::shared_ptr<const NvrtcLibrary> library_;
  bool pch_ = false;
};

}  // namespace hone
