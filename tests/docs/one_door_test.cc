// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests that some work is done in one file alone, so that one rule holds for all of it. Programs write to a terminal
// through apps/common/standard_output.h, which makes control characters visible: names of files, compilers' messages
// and models' words can be part of any line. JSON is parsed and written by src/base/text/json_text.cc, which limits its
// depth.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>
#include <string>
#include <vector>

namespace hone {
namespace {

namespace fs = std::filesystem;

struct Door {
  const char* name;
  std::vector<const char*> words;     // every line that passed_by matches contains one of these, which are quicker to
                                      // find
  std::regex passed_by;               // matches code that does the work without the door
  std::vector<std::string> folders;   // folders in which the rule holds
  std::vector<std::string> files;     // the files that may do the work: the door itself
  const char* remedy;
  std::vector<const char*> found, not_found;  // lines that the rule must find, and must not
};

const std::vector<Door>& Doors() {
  static const std::vector<Door> doors = {
      // snprintf writes to memory. A literal that begins with "printf(" is text about what candidates may call.
      {"printing",
       {"print", "put", "std::c", "perror", "fwrite"},
       std::regex(R"(\bfmt::print(ln)?\(|\bstd::(cout|cerr|clog)\b|[^n\w"]f?printf\(|\b(fputs|fputc|puts|putchar|perror|fwrite)\()"),
       {"apps"},
       {"standard_output.h"},
       "Use Print, PrintError or WriteAsIs of common/standard_output.h.",
       {"  fmt::print(\"x\");", "std::cout << x;", "  std::fprintf(stderr, \"%s\", x);", " printf(\"x\")", "std::fputs(x, stderr)"},
       {"  std::snprintf(a, b);", "  Print(\"x\");", "  hone::PrintError(\"x\");", "\"printf(\""}},
      {"JSON",
       {"parse(", "dump(", "cbor("},
       std::regex(R"(\b[Jj]son::parse\(|\.dump\(|\b(from|to)_cbor\()"),
       {"apps", "src"},
       {"json_text.cc"},
       "Use DumpJson, ParseJson, ReadJsonText, JsonToCbor or JsonFromCbor of base/text/json_text.h.",
       {"  json j = json::parse(text);", "Json::parse(text, nullptr, false)", "nlohmann::json::parse(t)", "return j.dump(2);",
        "nlohmann::json::to_cbor(v, s);"},
       {"ParseJson(text, \"it\")", "DumpJson(j)", "toml::parse(text)", "app.parse(argc, argv)", "JsonToCbor(v)"}},
  };
  return doors;
}

bool PassesBy(const std::string& line, const Door& door) {
  const auto in_line = [&](const char* word) { return line.find(word) != std::string::npos; };
  return std::any_of(door.words.begin(), door.words.end(), in_line) && std::regex_search(line, door.passed_by);
}

bool IsTest(const fs::path& path) { return path.stem().string().ends_with("_test"); }

TEST(OneDoor, IsPassedByNowhere) {
  const fs::path root = HONE_SOURCE_DIR;
  for (const Door& door : Doors()) {
    int files = 0;
    for (const std::string& folder : door.folders) {
      for (const auto& entry : fs::recursive_directory_iterator(root / folder)) {
        const fs::path& path = entry.path();
        if ((path.extension() != ".cc" && path.extension() != ".h") || IsTest(path)) continue;
        if (std::find(door.files.begin(), door.files.end(), path.filename().string()) != door.files.end()) continue;
        ++files;
        std::ifstream stream(path);
        int number = 0;
        for (std::string line; std::getline(stream, line);) {
          ++number;
          const std::string code = line.substr(0, line.find("// "));
          EXPECT_FALSE(PassesBy(code, door))
              << door.name << ": " << path << ":" << number << ": " << line << "\n" << door.remedy;
        }
      }
    }
    EXPECT_GT(files, 50) << door.name;
  }
}

TEST(OneDoor, TheRulesFindWhatTheyAreFor) {
  for (const Door& door : Doors()) {
    for (const char* line : door.found) EXPECT_TRUE(PassesBy(line, door)) << door.name << ": " << line;
    for (const char* line : door.not_found) EXPECT_FALSE(PassesBy(line, door)) << door.name << ": " << line;
  }
}

}  // namespace
}  // namespace hone
