// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// A program that stands in for a Python with PyTorch, in tests on machines that have none. PYTHONPATH selects what it
// does.
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

namespace {

constexpr const char* kDescription =
    R"js({"torch": "9.9", "class": "gemm", "slice": "rows", "special": ["subnormal"], "operators": ["addmm", "relu"],
"flops": "2 * rows * stride", "checks": [{"rows": 1, "stride": 2}], "notes": ["heads = 8 is fixed"],
"costs": {"operators": [{"name": "addmm", "calls": 1, "bytes": 2000000, "flops": 4000000}, {"name": "relu", "calls": 1, "bytes": 1000000, "flops": 0}], "own": 2500000},
"dims": [{"name": "rows", "size": 128, "multiple": 1, "low": 1, "high": 9, "alone": true},
         {"name": "stride", "size": 64, "multiple": 2, "low": 2, "high": 8, "alone": false}],
"inputs": [{"name": "x", "dtype": "float32", "shape": ["rows", "stride"], "values": {"distribution": "uniform", "low": 0.0, "high": 1.0}},
           {"name": "scale", "value": 2.0}, {"name": "eps", "value": 1e-5, "scalar": "float32"}],
"timed": [{"rows": 16, "stride": 64}], "summary": "rows by a layer",
"state": [{"name": "fc.weight", "dtype": "float32", "shape": ["8", "stride"], "role": "in",
           "values": {"distribution": "uniform", "low": "-1 / sqrt(stride)", "high": "1 / sqrt(stride)"}},
          {"name": "fc_weight", "dtype": "float32", "shape": ["8"], "role": "inout", "values": {"distribution": "normal"},
           "tolerance": {"c_max": 1e-4, "c_rms": 1e-5}}],
"outputs": [{"name": "out", "dtype": "float32", "shape": ["rows", "8"],
             "tolerance": {"c_max": 2e-4, "c_rms": 1e-5, "honest_rms": 3e-7, "dishonest": 4e-4, "least": "tf32"}}]})js";

constexpr const char* kOperatorTimes =
    R"js({"device": "some GPU", "torch": "9.9", "on_gpu": true, "training": true, "sizes": {"rows": 128}, "warm_calls": 3, "calls": 15, "own": 2500000, "timer_us": 1,
"all_us": {"median": 40, "low": 39, "high": 41}, "forward_us": {"median": 38, "low": 37, "high": 39}, "operators": [
{"name": "addmm", "calls": 1, "bytes": 2000000, "flops": 4000000, "us": {"median": 30, "low": 29, "high": 31}},
{"name": "relu", "calls": 1, "bytes": 1000000, "flops": 0, "us": {"median": 10, "low": 9, "high": 11}}]})js";

// Prints a report in one line.
void Tell(const char* report) {
  std::printf("hone: ");
  for (const char* c = report; *c != '\0'; ++c) std::putchar(*c == '\n' ? ' ' : *c);
  std::puts("");
}

// Returns whether this process stands for operator_times.py.
bool TimesOperators() {
  std::FILE* file = std::fopen("hone_script.py", "r");
  if (file == nullptr) return false;
  std::string text(size_t{1} << 20, '\0');
  text.resize(std::fread(text.data(), 1, text.size(), file));
  std::fclose(file);
  return text.find("def time_operators") != std::string::npos;
}

// Reads `size` bytes from descriptor 3, the socket to the judge. Returns whether they came. `descriptor`: becomes the
// one that came with them, if any.
bool Read(char* to, size_t size, int* descriptor) {
  while (size > 0) {
    iovec part{to, size};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))];
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    const ssize_t got = recvmsg(3, &message, 0);
    if (got <= 0) return false;
    const cmsghdr* entry = CMSG_FIRSTHDR(&message);
    if (entry != nullptr && entry->cmsg_type == SCM_RIGHTS) std::memcpy(descriptor, CMSG_DATA(entry), sizeof(int));
    to += got;
    size -= static_cast<size_t>(got);
  }
  return true;
}

// Answers the judge as serve.py does on a GPU. Instead of computing anything, each evaluation writes two words to the
// start of the block: how many evaluations and how many blocks there have been so far. `act`: "shares"; "shares_nothing"
// refuses all blocks for want of memory; "shares_badly" fails to map any; "shares_twice" ends at its third evaluation.
void ServeOnAGpu(std::string_view act) {
  std::array<uint32_t, 4> head{};
  std::array<int64_t, 2> counts{};
  void* block = MAP_FAILED;
  size_t bytes = 0;
  int descriptor = -1;
  for (bool first = true; Read(reinterpret_cast<char*>(head.data()), sizeof head, &descriptor); first = false) {
    std::string request(head[1], '\0');
    if (!Read(request.data(), request.size(), &descriptor)) return;
    std::string answer = R"({"seconds": 0})";
    if (const size_t share = request.find(R"("share":)"); share != std::string::npos) {
      if (block != MAP_FAILED) munmap(block, bytes);
      block = MAP_FAILED;
      bytes = std::strtoull(request.c_str() + share + 8, nullptr, 10);
      const bool maps = bytes > 0 && act != "shares_nothing";
      if (maps) block = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
      if (descriptor >= 0) close(descriptor);
      descriptor = -1;
      counts[1] += bytes > 0;
      answer = act == "shares_badly" ? R"({"error": "cuMemMap gave CUDA_ERROR_NOT_SUPPORTED"})"
               : block != MAP_FAILED ? R"({"shared": true})"
                                     : R"({"shared": false})";
    } else if (first) {
      answer = R"({"torch": "9.9", "device": "some GPU"})";
    } else {
      ++counts[0];
      if (act == "shares_twice" && counts[0] > 2) return;
      if (request.find(R"("shared":true)") != std::string::npos) std::memcpy(block, counts.data(), sizeof counts);
    }
    head = {head[0], static_cast<uint32_t>(answer.size()), 0, 0};
    if (write(3, head.data(), sizeof head) != sizeof head || write(3, answer.data(), answer.size()) < 0) return;
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view script = argc > 2 ? argv[2] : "";
  if (script.find("sysconfig") != std::string_view::npos) {
    char path[4096] = {};
    if (readlink("/proc/self/exe", path, sizeof path - 1) < 0) return 1;
    std::printf("hone: {\"executable\": \"%s\", \"paths\": []}\n", path);
    return 0;
  }
  const char* named = std::getenv("PYTHONPATH");
  const std::string_view act = named == nullptr ? "" : named;
  if (act == "missing") {
    std::puts(
        R"(hone: {"error": "PyTorch does not load in python3 (No module named 'torch'): install it there (pip install torch), or name another interpreter in HONE_PYTHON"})");
  } else if (act == "refused") {
    std::puts(R"(hone: {"error": "forward returns a dict: return a tensor or a tuple of tensors"})");
  } else if (act == "silent") {
    std::fputs("Traceback\nKilled by itself\n", stderr);
    return 3;
  } else if (act == "garbage") {
    std::puts("hone: {\"torch\": ");
  } else if (act == "other_fields") {
    std::puts(R"(hone: {"torch": 3})");
  } else if (act == "endless") {
    for (;;) pause();
  } else if (act == "described") {
    std::puts("printed by the file itself");
    Tell(kDescription);
  } else if (act.starts_with("timed")) {
    if (!TimesOperators()) {
      Tell(kDescription);
    } else if (act == "timed_endlessly") {
      for (;;) pause();
    } else if (act == "timed_badly") {
      std::puts("hone: {\"error\": \"OutOfMemoryError: CUDA out of memory\"}");
    } else if (act == "timed_until_it_crashed") {
      return 3;
    } else {
      Tell(kOperatorTimes);
    }
  } else if (act.starts_with("shares")) {
    ServeOnAGpu(act);
  }
  return 0;
}
