// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// This file encodes the zygote's messages as frames; see nvrtc_zygote.h. Texts that may hold any bytes (sources, logs,
// machine code) travel as blobs, since JSON strings must be UTF-8.
#include <nlohmann/json.hpp>

#include "base/text/json_numbers.h"
#include "base/text/json_text.h"
#include "tuner/evaluate/compile/nvrtc_zygote.h"

namespace hone {
namespace {

using nlohmann::json;

// Runs `decode`, which reads `frame.header`; a missing or mistyped field becomes a Status.
template <typename T, typename Decode>
Result<T> Parse(const Frame& frame, const char* what, Decode decode) {
  HONE_ASSIGN_OR_RETURN(const json header, ParseJson(frame.header, what));
  // Every number of these messages is an integer.
  if (HoldsFloatFrom(header, 0)) return Status::Internal(std::string(what) + " is malformed: a number is no integer");
  try {
    T value;
    if (!decode(header, value)) return Status::Internal(std::string(what) + " came without its texts");
    return value;
  } catch (const json::exception& e) {
    return Status::Internal(std::string(what) + " is malformed: " + e.what());
  }
}

}  // namespace

WireMessage EncodeSetup(const ZygoteSetup& setup) {
  json names = json::array();
  WireMessage message;
  message.blobs = {setup.nvrtc.prelude, setup.nvrtc.plain_prelude};
  for (const auto& [name, text] : setup.nvrtc.headers) {
    names.push_back(name);
    message.blobs.push_back(text);
  }
  message.header = DumpJson(json{{"library", setup.nvrtc.library},
                         {"options", setup.nvrtc.options},
                         {"headers", names},
                         {"pch_directory", setup.nvrtc.pch_directory},
                         {"pch_heap_bytes", setup.nvrtc.pch_heap_bytes},
                         {"read_paths", setup.read_paths},
                         {"scratch_directory", setup.scratch_directory},
                         {"memory_bytes", setup.memory_bytes},
                         {"temporary_bytes", setup.temporary_bytes},
                         {"cpu_seconds", setup.cpu_seconds}});
  return message;
}

Result<ZygoteSetup> DecodeSetup(const Frame& frame) {
  return Parse<ZygoteSetup>(frame, "a zygote's setup", [&](const json& header, ZygoteSetup& setup) {
    header.at("library").get_to(setup.nvrtc.library);
    header.at("options").get_to(setup.nvrtc.options);
    header.at("pch_directory").get_to(setup.nvrtc.pch_directory);
    header.at("pch_heap_bytes").get_to(setup.nvrtc.pch_heap_bytes);
    header.at("read_paths").get_to(setup.read_paths);
    header.at("scratch_directory").get_to(setup.scratch_directory);
    header.at("memory_bytes").get_to(setup.memory_bytes);
    header.at("temporary_bytes").get_to(setup.temporary_bytes);
    header.at("cpu_seconds").get_to(setup.cpu_seconds);
    const auto names = header.at("headers").get<std::vector<std::string>>();
    if (frame.blobs.size() != names.size() + 2) return false;
    setup.nvrtc.prelude = frame.blobs[0];
    setup.nvrtc.plain_prelude = frame.blobs[1];
    for (size_t i = 0; i < names.size(); ++i) setup.nvrtc.headers.emplace_back(names[i], frame.blobs[i + 2]);
    return true;
  });
}

WireMessage EncodeJob(const NvrtcJob& job) {
  WireMessage message;
  message.header = DumpJson(json{{"kernels", job.kernels.size()}});
  message.blobs = {job.file, job.body};
  message.blobs.insert(message.blobs.end(), job.kernels.begin(), job.kernels.end());
  return message;
}

Result<NvrtcJob> DecodeJob(const Frame& frame) {
  return Parse<NvrtcJob>(frame, "a compile job", [&](const json& header, NvrtcJob& job) {
    if (frame.blobs.size() < 2 || frame.blobs.size() != header.at("kernels").get<size_t>() + 2) return false;
    job.file = frame.blobs[0];
    job.body = frame.blobs[1];
    job.kernels.assign(frame.blobs.begin() + 2, frame.blobs.end());
    return true;
  });
}

WireMessage EncodeReply(const NvrtcReply& reply) {
  WireMessage message;
  message.header = DumpJson(json{{"ok", reply.ok},
                         {"error", reply.error},
                         {"rejected", reply.rejected},
                         {"lowered", reply.lowered.size()},
                         {"pch_used", reply.pch_used}});
  message.blobs = {reply.log, reply.cubin};
  for (const auto& [kernel, symbol] : reply.lowered) {
    message.blobs.push_back(kernel);
    message.blobs.push_back(symbol);
  }
  return message;
}

Result<NvrtcReply> DecodeReply(const Frame& frame) {
  return Parse<NvrtcReply>(frame, "a compiler's reply", [&](const json& header, NvrtcReply& reply) {
    header.at("ok").get_to(reply.ok);
    header.at("error").get_to(reply.error);
    header.at("rejected").get_to(reply.rejected);
    header.at("pch_used").get_to(reply.pch_used);
    const size_t lowered = header.at("lowered").get<size_t>();
    if (frame.blobs.size() < 2 || lowered != (frame.blobs.size() - 2) / 2 || frame.blobs.size() % 2 != 0) return false;
    reply.log = frame.blobs[0];
    reply.cubin = frame.blobs[1];
    for (size_t i = 0; i < lowered; ++i) reply.lowered[frame.blobs[2 + 2 * i]] = frame.blobs[3 + 2 * i];
    return true;
  });
}

Result<ZygoteGreeting> DecodeGreeting(const Frame& frame) {
  return Parse<ZygoteGreeting>(frame, "a zygote's greeting", [](const json& header, ZygoteGreeting& greeting) {
    if (header.contains("error")) {
      header.at("error").get_to(greeting.error);
    } else {
      header.at("pch").get_to(greeting.pch);
    }
    return true;
  });
}

Result<ChildEnd> DecodeChildEnd(const Frame& frame) {
  return Parse<ChildEnd>(frame, "a compiler's end", [](const json& header, ChildEnd& end) {
    header.at("signal").get_to(end.signal);
    header.at("exit").get_to(end.exit_status);
    header.at("timed_out").get_to(end.timed_out);
    header.at("out_of_memory").get_to(end.out_of_memory);
    return true;
  });
}

}  // namespace hone
