// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// A session uses NVRTC directly, in this process: one set of options and one precompiled header, any number of
// compiles. The zygote makes a session and its forked children compile with it; tests may do both in one process, which
// a hostile source can then crash.
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
  std::string plain_prelude;         // used instead where `prelude` does not compile; empty: no substitute
  std::vector<std::pair<std::string, std::string>> headers;  // served from memory: name, text
  std::string pch_directory;         // writable for the session, readable for its children
  int64_t pch_heap_bytes = 0;
};

struct NvrtcJob {
  std::string file;                  // for messages
  std::string body;                  // the source after the prelude
  std::vector<std::string> kernels;  // name expressions
};

struct NvrtcReply {
  bool ok = false;
  std::string error;      // when !ok: NVRTC's name for the error
  bool rejected = false;  // the source is at fault (a compilation error), not the options or NVRTC
  std::string log;
  std::string cubin;
  std::map<std::string, std::string> lowered;
  bool pch_used = false;
};

// A session is not thread-safe.
class NvrtcSession {
 public:
  // Loads NVRTC and writes the precompiled header. Without PCH support, or when the header does not fit its heap,
  // the session works all the same and pch() is false. kUnavailable when the prelude itself does not compile, with
  // the compiler's words (an architecture NVRTC does not know, a header not found).
  static Result<std::unique_ptr<NvrtcSession>> Make(NvrtcSetup setup);

  NvrtcReply Compile(const NvrtcJob& job) const;

  bool pch() const { return pch_; }
  const NvrtcLibrary& library() const { return *library_; }

 private:
  NvrtcSession() = default;
  static Result<std::unique_ptr<NvrtcSession>> MakeWith(NvrtcSetup setup);
  NvrtcReply Run(const std::string& source, const std::string& file, const std::vector<std::string>& kernels,
                 const std::vector<std::string>& more_options) const;

  NvrtcSetup setup_;
  std::shared_ptr<const NvrtcLibrary> library_;
  bool pch_ = false;
};

}  // namespace hone
