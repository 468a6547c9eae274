// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// A program that stands in for a Python with PyTorch, in tests on machines that have none. PYTHONPATH selects what it
// does.
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

namespace {

constexpr const char* kDescription =
    R"js({"torch": "9.9", "class": "gemm", "slice": "rows", "special": ["subnormal"], "operators": ["addmm", "relu"],
"flops": "2 * rows * stride", "checks": [{"rows": 1, "stride": 2}], "notes": ["heads = 8 is fixed"],
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

// Reads `size` bytes from descriptor 3, the socket to the judge. Returns whether they came.
bool Read(char* to, size_t size) {
  while (size > 0) {
    const ssize_t got = read(3, to, size);
    if (got <= 0) return false;
    to += got;
    size -= static_cast<size_t>(got);
  }
  return true;
}

// Answers the judge as serve.py does on a GPU, without computing anything. `handle`: what it says of memory that it
// shares.
void ServeOnAGpu(const std::string& handle) {
  std::array<uint32_t, 4> head{};
  for (bool first = true; Read(reinterpret_cast<char*>(head.data()), sizeof head); first = false) {
    std::string request(head[1], '\0');
    if (!Read(request.data(), request.size())) return;
    std::string answer = R"({"seconds": 0})";
    if (first) answer = R"({"torch": "9.9", "device": "some GPU"})";
    if (request.find(R"("share":)") != std::string::npos) {
      answer = R"({"handle": ")" + (request.find(R"("share":0)") != std::string::npos ? "" : handle) + "\"}";
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
    std::printf("hone: ");
    for (const char* c = kDescription; *c != '\0'; ++c) std::putchar(*c == '\n' ? ' ' : *c);
    std::puts("");
  } else if (act == "shares" || act == "shares_nothing") {
    ServeOnAGpu(act == "shares" ? "6869" : "");
  }
  return 0;
}
