// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Reads the repository's files, from which the tables of parsers make their seeds. HONE_TEST_SOURCE names the source
// folder for a program that was copied to another machine.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

namespace hone {

// Returns the bytes of a file of the repository. Ends the program with a message if there is none; a fuzzer then leaves
// an input behind that is not at fault.
inline std::string FileText(const std::string& path) {
  const char* const source = std::getenv("HONE_TEST_SOURCE");
  const std::string file = std::string(source != nullptr ? source : HONE_SOURCE_DIR) + "/" + path;
  std::ifstream stream(file, std::ios::binary);
  if (!stream.good()) {
    std::fprintf(stderr, "%s cannot be read: HONE_TEST_SOURCE must name a folder that holds it\n", file.c_str());
    std::fflush(stderr);
    std::abort();
  }
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

// Returns the JSON between the first "```json" and "```" of a page.
inline std::string JsonOfPage(const std::string& path) {
  const std::string page = FileText(path);
  const size_t begin = page.find("```json\n") + 8;
  return page.substr(begin, page.find("```", begin) - begin);
}

}  // namespace hone
