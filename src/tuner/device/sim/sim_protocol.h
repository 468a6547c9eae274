// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Encodes messages between a simulator session and its child process, over base/process/frames.h. The header is JSON.
//
// Session to child:
//   {"op":"load","static_shared":n,"dynamic_offset":n,"has_dynamic":b,"guards":[[begin,end]…],"workers":n} with the
//   image's descriptor
//   {"op":"map","maps":[{"fd":i,"address":n,"bytes":n,"offset":n,"piece":n,"pieces_key":n,"writable":b}…]} with
//   descriptors;
//     no answer
//   {"op":"unmap","ranges":[[address,bytes]…]}; no answer
//   {"op":"launch", …LaunchMessage…} with one blob: the arguments' bytes
// Child to session, one answer to each load and launch:
//   {"ok":true,"writable_bytes":n} or {"ok":false,"error":"…"}: a LoadAnswer
//   a LaunchAnswer; or {"signal":n,"pc":n} when the kernel's own code faulted, after which the child exits.
// The child has run untrusted code: its answers are checked for form, and are trusted only as claims about that code's
// launch.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hone/base/status.h"
#include "tuner/device/sim/worker/launch_types.h"

namespace hone::sim {

struct LaunchMessage {
  LaunchSpec spec;  // entry and arguments are null: the child fills them in
  std::string kernel_symbol;
  std::vector<std::string> argument_bytes;  // one value per parameter
  bool restore_globals = false;             // before the launch
};

std::string EncodeLaunch(const LaunchMessage& message);
Result<LaunchMessage> DecodeLaunch(const std::string& header, const std::string& blob);
std::string EncodeArguments(const LaunchMessage& message);

struct LoadAnswer {
  std::string refused;         // why the image is not loaded; empty: it is
  int64_t writable_bytes = 0;  // size of the image's variables
};

Result<LoadAnswer> DecodeLoadAnswer(const std::string& header);

struct LaunchAnswer {
  LaunchReport report;
  bool globals_changed = false;
  int signal = 0;          // not 0: the kernel's own code faulted
  uint64_t signal_pc = 0;  // offset from the image's start; 0: elsewhere
  std::string error;       // not empty: the launch could not be made (no such kernel, …)
};

std::string EncodeAnswer(const LaunchAnswer& answer);
Result<LaunchAnswer> DecodeAnswer(const std::string& header);

}  // namespace hone::sim
