// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests that the parsers of strangers' texts end normally and soon: on every input that fuzzing has kept
// (kept_texts.hex, one per line), on thousands of texts that are nearly valid, and on texts that repeat one fragment
// tens of thousands of times, which finds recursion and quadratic time. With HONE_FUZZ_SEEDS set to a folder, writes
// seeds and kept inputs there, for the fuzzer to start from.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <random>

#include "base/files/file.h"
#include "base/numbers/random.h"
#include "fuzz/text_parsers.h"

namespace hone {
namespace {

double ProcessorSeconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) { return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6; };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

std::vector<std::string> KeptInputs() {
  std::ifstream file(HONE_SOURCE_DIR "/tests/fuzz/kept_texts.hex");
  std::vector<std::string> inputs;
  for (std::string line; std::getline(file, line);) {
    std::string bytes;
    for (size_t i = 0; i + 1 < line.size(); i += 2) bytes += static_cast<char>(std::stoi(line.substr(i, 2), nullptr, 16));
    inputs.push_back(std::move(bytes));
  }
  return inputs;
}

TEST(TextParsers, KeptInputsEndNormally) {
  const std::vector<std::string> inputs = KeptInputs();
  EXPECT_FALSE(inputs.empty());
  for (const std::string& input : inputs) FeedTextParser(input);
}

TEST(TextParsers, SeedsFillTheFuzzersFolder) {
  const char* folder = std::getenv("HONE_FUZZ_SEEDS");
  int number = 0;
  const auto put = [&](const std::string& input) {
    FeedTextParser(input);
    if (folder == nullptr) return;
    std::ofstream(std::string(folder) + "/text" + std::to_string(number++), std::ios::binary) << input;
  };
  char index = 0;
  for (const TextParser& parser : TextParsers()) {
    const std::vector<std::string> seeds = parser.seeds();
    ASSERT_FALSE(seeds.empty()) << parser.name;
    for (const std::string& seed : seeds) put(index + seed);
    ++index;
  }
  for (const std::string& input : KeptInputs()) put(input);
}

// Returns the text after one to four edits: a byte replaced, a piece cut, doubled or moved, a number made enormous.
std::string Damaged(std::string text, Rng& rng) {
  static constexpr char kEdits[] = "\"[]{}()=,.:+-*/%<>?!&|#\\\n\t 0129axzd_'\xff\0\x80";
  static const std::string kBytes(kEdits, sizeof kEdits - 1);
  static const std::vector<std::string> kNumbers = {"9223372036854775807", "-9223372036854775808", "1e308", "-1", "0",
                                                    "18446744073709551616", "nan", "4294967296"};
  for (uint64_t edits = 1 + rng.Below(4); edits > 0 && text.size() > 2; --edits) {
    const size_t at = rng.Below(text.size());
    const size_t length = 1 + rng.Below(std::min<size_t>(40, text.size() - at));
    switch (rng.Below(6)) {
      case 0: text[at] = kBytes[rng.Below(kBytes.size())]; break;
      case 1: text.erase(at, length); break;
      case 2: text.insert(at, text.substr(at, length)); break;
      case 3: text.insert(at, 1, kBytes[rng.Below(kBytes.size())]); break;
      case 4: {
        const std::string piece = text.substr(at, length);
        text.erase(at, length);
        text.insert(rng.Below(text.size() + 1), piece);
        break;
      }
      default: {
        const size_t digit = text.find_first_of("0123456789", at);
        if (digit == std::string::npos) break;
        const size_t end = text.find_first_not_of("0123456789", digit);
        text.replace(digit, (end == std::string::npos ? text.size() : end) - digit, kNumbers[rng.Below(kNumbers.size())]);
      }
    }
  }
  return text;
}

// HONE_FUZZ_SECONDS gives each parser that much processor time, with a new seed in each run. Every input is first
// written to /dev/shm/hone-last-text, so that one that ends the program is found there.
TEST(TextParsers, NearlyRightTextsEndNormally) {
  const char* const wanted = std::getenv("HONE_FUZZ_SECONDS");
  const double seconds = wanted != nullptr ? std::atof(wanted) : 0.5;
  const uint64_t seed = wanted != nullptr ? std::random_device()() : 20261123;
  if (wanted != nullptr) std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
  Rng rng(seed);
  char index = 0;
  for (const TextParser& parser : TextParsers()) {
    std::vector<std::string> texts = parser.seeds();
    const size_t first_bred = texts.size();
    // Each parser gets the same processor time, since a task takes ten times as long as an expression.
    const double start = ProcessorSeconds();
    int64_t fed = 0;
    for (; (wanted != nullptr || fed < 1500) && (fed < 40 || ProcessorSeconds() - start < seconds); ++fed) {
      std::string text = Damaged(texts[rng.Below(texts.size())], rng);
      if (wanted != nullptr) std::ofstream("/dev/shm/hone-last-text", std::ios::binary) << index << text;
      const double before = ProcessorSeconds();
      parser.feed(text);
      EXPECT_LT(ProcessorSeconds() - before, 5.0) << parser.name << ": " << text.substr(0, 400);
      // Some of the damaged texts are kept to be damaged further.
      if (text.size() > 1 && text.size() < 8192 && rng.Below(16) == 0) {
        if (texts.size() < first_bred + 256) {
          texts.push_back(std::move(text));
        } else {
          texts[first_bred + rng.Below(256)] = std::move(text);
        }
      }
    }
    if (wanted != nullptr) std::printf("%s: %lld texts\n", std::string(parser.name).c_str(), static_cast<long long>(fed));
    ++index;
  }
}

// Fragments of texts that mean "one level deeper", "one more", or "an opening without an end".
const std::vector<std::string> kFragments = {
    "a.", "a.b = 1\n", "[", "[[", "{", "{a=", "{a={", "[a.", "[[a]]\n", "\"", "'''", "\"\"\"", "\\", "(", "-", "!", "(a ? ",
    "a ? ", "1+", "a&&", "min(", "f(", "<", "<<", "k<", "template <", "template<class a>", "a<", ">", "}", ")", "]", "/*", "//",
    "/*hone\n", "*/", "#", "#define a(", "#include <", "R\"(", "R\"a", "```\n", "```cuda\n/*hone\n", "<<<<<<< SEARCH\n", "=======\n",
    "<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE\n", "REGION: a\n", "IDEA: a\n", "CASE: tokens=", "[[launch]]\n",
    "{\"a\":", "[{\"a\":[", "[1,", "\"a\",", "data: {\n", "data: x\n\n", "\n", "\r", "\t", " ", "9", "0x", "1e", ",", ":", ";", "=", "\xc3", "\xff",
    "\xe2\x80\xae", "__global__ void k() {", "struct a {", "namespace a {", "a(", "void a() {}\n", "a,", "\"\"", "x error: x\n", ": error: a\n",
    "else if ", "operator", "case a:", "for (", "if (a) ", "a=[1]\n", "\\ud83d", "R\"", "\\\"", "\\'", "#if 1\n",
    "__shared__ ", "__shared__ int a", "__global__ ", "#pragma unroll\n", "#define M \"a\"\n", "asm(", "asm(\"a\"", "asm(M ", "%0, ", "@p ",
    "k<<<", "extern ", "r'''", "static ", "a::", "x<1>("};

// Four times the text takes a linear parser four times as long, and a quadratic one sixteen times. Times under a fifth
// of a second are ignored.
TEST(TextParsers, RepetitionsTakeTimeInProportionToTheirLength) {
  constexpr size_t kShort = 16 << 10, kLong = 64 << 10;
  constexpr double kWorthLooking = 0.2, kMostTimes = 11, kMostSeconds = 10;
  Rng rng(7);
  for (const TextParser& parser : TextParsers()) {
    const std::vector<std::string> seeds = parser.seeds();
    for (const std::string& fragment : kFragments) {
      const std::string& seed = seeds[rng.Below(seeds.size())];
      // The fragment is repeated alone, and somewhere inside a valid text, where a value, a name or an argument stands.
      const size_t at = rng.Below(seed.size());
      for (const bool inside : {false, true}) {
        const auto seconds = [&](size_t bytes) {
          std::string text = inside ? seed.substr(0, at) : "";
          while (text.size() < bytes) text += fragment;
          if (inside) text += seed.substr(at);
          const double start = ProcessorSeconds();
          parser.feed(text);
          return ProcessorSeconds() - start;
        };
        const double longer = seconds(kLong);
        if (longer < kWorthLooking) continue;
        const double shorter = seconds(kShort);
        EXPECT_LT(longer, kMostSeconds) << parser.name << ", '" << fragment << "' at " << at;
        EXPECT_LT(longer, kMostTimes * shorter) << parser.name << ", '" << fragment << "' at " << at;
      }
    }
  }
}

}  // namespace
}  // namespace hone
