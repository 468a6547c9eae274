// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Reads messages, executes them and answers.
#include "tuner/device/sim/sim_child.h"

#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/process/frames.h"
#include "base/text/json_text.h"
#include "tuner/device/sim/image/image.h"
#include "tuner/device/sim/sim_abi.h"
#include "tuner/device/sim/sim_layout.h"
#include "tuner/device/sim/sim_protocol.h"
#include "tuner/device/sim/tile_pieces.h"
#include "tuner/device/sim/worker/hooks.h"
#include "tuner/device/sim/worker/launch_runner.h"
#include "tuner/device/sim/worker/worker.h"

namespace hone {

namespace {

using nlohmann::json;

// The signal handler reads these two: it answers for the launch before the process ends.
int answer_fd = -1;
const sim::ImageLayout* handler_image = nullptr;

// Runs on its own stack, in the middle of a candidate's code. That code holds no lock of Hone's, so the answer can be
// made in the ordinary way; if that fails, the parent still sees the signal.
void OnFault(int signal, siginfo_t*, void* context) {
  struct sigaction plain {};
  plain.sa_handler = SIG_DFL;
  sigaction(signal, &plain, nullptr);
  sim::LaunchAnswer answer;
  answer.signal = signal;
  const uint64_t pc = static_cast<uint64_t>(static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_RIP]);
  if (handler_image != nullptr && pc >= handler_image->text_begin && pc < handler_image->text_end) {
    // Positions are looked up one byte before: a return address follows its call, but this address does not.
    answer.signal_pc = pc - handler_image->image_begin + 1;
  }
  const sim::Worker* const worker = sim::current_worker;
  if (worker != nullptr && worker->block != nullptr) {
    bool overflow = false;
    for (int t = 0; t < worker->block->threads(); ++t) overflow |= !worker->block->stack_intact(t);
    const uint64_t stack = static_cast<uint64_t>(static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_RSP]);
    overflow |= worker->fiber != nullptr && stack < worker->stack_begin + 256;
    if (overflow) {
      answer.report.end = sim::LaunchEnd::kUnsupported;
      answer.report.detail = "a thread needs more local memory than the simulator gives it";
    }
    if (worker->fiber != nullptr) answer.error = worker->WhereText();
  }
  (void)SendFrame(answer_fd, EncodeAnswer(answer), {}, {}, 1.0);
  _exit(128 + signal);
}

void InstallFaultHandlers() {
  struct sigaction action {};
  action.sa_sigaction = &OnFault;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT}) sigaction(signal, &action, nullptr);
}

class Child {
 public:
  explicit Child(int fd) : fd_(fd) {}

  int Serve() {
    for (;;) {
      Result<Frame> frame = ReceiveFrame(fd_);
      if (!frame.ok()) return frame.status().code() == StatusCode::kUnavailable ? 0 : 3;
      json j = ReadJsonText(frame->header);
      if (j.is_discarded() || !j.is_object()) return 3;
      const std::string op = j.value("op", "");
      bool served = true;
      try {
        if (op == "load") {
          served = Load(j, *frame);
        } else if (op == "map") {
          served = Map(j, *frame);
        } else if (op == "unmap") {
          for (const json& range : j.at("ranges")) {
            munmap(reinterpret_cast<void*>(range.at(0).get<uint64_t>()), range.at(1).get<size_t>());
          }
        } else if (op == "launch") {
          served = Launch(*frame);
        } else {
          served = false;
        }
      } catch (const json::exception&) {
        served = false;
      }
      if (!served) return 3;
    }
  }

 private:
  bool Load(const json& j, Frame& frame) {
    if (frame.fds.size() != 1 || image_) return false;
    // OS threads start first: some sandboxes are tightened once an image is loaded, and images find all threads.
    runner_ = std::make_unique<sim::LaunchRunner>(j.at("workers").get<int>());
    sim::ImageNotes notes;
    notes.static_shared = j.at("static_shared").get<uint32_t>();
    notes.dynamic_offset = j.at("dynamic_offset").get<uint32_t>();
    notes.guards = j.at("guards").get<std::vector<std::pair<uint32_t, uint32_t>>>();
    notes.constants = j.at("constants").get<std::vector<std::pair<uint64_t, uint64_t>>>();
    notes.has_dynamic = j.at("has_dynamic").get<bool>();
    Result<sim::Image> image = sim::Image::Load(frame.fds[0].get(), notes);
    json answer{{"ok", image.ok()}};
    if (image.ok()) {
      image_.emplace(std::move(image).value());
      handler_image = &image_->layout();
      answer["writable_bytes"] = image_->layout().data_end - image_->layout().data_begin;
    } else {
      answer["error"] = image.status().message();
    }
    return SendFrame(fd_, DumpJson(answer)).ok();
  }

  // Maps the memory files that came with a message at the addresses that it gives. Returns false if the message is
  // wrong.
  bool Map(const json& j, Frame& frame) {
    for (const json& m : j.at("maps")) {
      const size_t number = m.at("fd").get<size_t>();
      if (number >= frame.fds.size()) return false;
      void* const address = reinterpret_cast<void*>(m.at("address").get<uint64_t>());
      const int64_t bytes = m.at("bytes").get<int64_t>(), piece = m.at("piece").get<int64_t>();
      const off_t offset = m.at("offset").get<off_t>();
      const int protection = m.at("writable").get<bool>() ? PROT_READ | PROT_WRITE : PROT_READ;
      const bool mapped =
          sim::ForEachPiece(bytes, piece != 0 ? piece : bytes, piece != 0 ? m.at("pieces_key").get<uint64_t>() : 0,
                            [&](int64_t at, int64_t part, int64_t in_tile) {
                              void* const to = static_cast<char*>(address) + at;
                              return mmap(to, static_cast<size_t>(part), protection, MAP_SHARED | MAP_FIXED_NOREPLACE,
                                          frame.fds[number].get(), offset + in_tile) == to;
                            });
      if (!mapped) return false;
    }
    return true;
  }

  bool Launch(Frame& frame) {
    sim::LaunchAnswer answer;
    Result<sim::LaunchMessage> message =
        sim::DecodeLaunch(frame.header, frame.blobs.empty() ? std::string() : frame.blobs[0]);
    if (!message.ok()) return false;
    if (!image_) return false;
    sim::LaunchSpec& spec = message->spec;
    spec.entry = image_->Entry(message->kernel_symbol);
    if (spec.entry == nullptr) {
      answer.error = "the image has no entry '" + message->kernel_symbol + "'";
      return SendFrame(fd_, EncodeAnswer(answer)).ok();
    }
    // The values are at addresses aligned for any type, tensor maps included.
    std::vector<std::unique_ptr<uint8_t, decltype(&free)>> values;
    for (const std::string& bytes : message->argument_bytes) {
      values.emplace_back(static_cast<uint8_t*>(aligned_alloc(64, (bytes.size() + 64) / 64 * 64)), &free);
      std::memcpy(values.back().get(), bytes.data(), bytes.size());
      spec.arguments.push_back(values.back().get());
    }
    image_->SetDisplacement(spec.displacement);
    if (message->restore_globals) image_->RestoreGlobals();
    const std::vector<uint8_t> globals = spec.before_wait ? image_->Globals() : std::vector<uint8_t>();
    answer.report = runner_->Run(spec, *image_);
    if (spec.before_wait) image_->SetGlobals(globals);
    answer.globals_changed = image_->GlobalsChanged();
    return SendFrame(fd_, EncodeAnswer(answer)).ok();
  }

  int fd_;
  std::unique_ptr<sim::LaunchRunner> runner_;
  std::optional<sim::Image> image_;
};

}  // namespace

int SimChildMain(int fd) {
  answer_fd = fd;
  // These references keep the linker from dropping the runtime's two halves from a program that calls neither.
  uint32_t (*volatile runtime)(uint32_t) = &hone_sim_index;
  if (runtime == nullptr || sim::WrappedSymbols().empty()) return 3;
  InstallFaultHandlers();
  stack_t handler_stack{};
  constexpr size_t kHandlerStack = 256 * 1024;  // bytes; a signal's handler needs a stack of its own when a thread's overflows
  handler_stack.ss_sp = std::malloc(kHandlerStack);
  handler_stack.ss_size = kHandlerStack;
  sigaltstack(&handler_stack, nullptr);
  const int status = Child(fd).Serve();
  // The image's own destructors are untrusted code: they do not run.
  _exit(status);
}

}  // namespace hone
