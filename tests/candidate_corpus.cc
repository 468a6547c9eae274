// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/candidate_corpus.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace hone {
namespace {

std::string Field(const std::string& source, const std::string& name) {
  const std::string key = "\n// " + name + ": ";
  const size_t at = source.find(key);
  if (at == std::string::npos) return "";
  const size_t begin = at + key.size();
  return source.substr(begin, source.find('\n', begin) - begin);
}

}  // namespace

std::vector<CorpusEntry> ReadCorpus(const std::string& directory) {
  std::vector<CorpusEntry> entries;
  for (const auto& file : std::filesystem::directory_iterator(directory)) {
    if (file.path().extension() != ".cu") continue;
    std::ostringstream text;
    text << std::ifstream(file.path()).rdbuf();
    CorpusEntry entry;
    entry.path = file.path().string();
    entry.name = file.path().stem().string();
    entry.source = text.str();
    entry.task = Field(entry.source, "task");
    std::istringstream verdicts(Field(entry.source, "expect"));
    for (std::string verdict; std::getline(verdicts, verdict, ',');) entry.expect.push_back(verdict);
    const std::string where = Field(entry.source, "where");
    entry.on_sim = where.find("sim") != std::string::npos;
    entry.on_gpu = where.find("gpu") != std::string::npos;
    entry.represented_by = Field(entry.source, "by");
    if (const std::string timed = Field(entry.source, "timed"); !timed.empty()) entry.timed = std::stoul(timed);
    if (const std::string most = Field(entry.source, "at_most"); !most.empty()) entry.at_most = std::stod(most);
    if (const std::string seed = Field(entry.source, "seed"); !seed.empty()) entry.seed = std::stoull(seed);
    entries.push_back(std::move(entry));
  }
  std::sort(entries.begin(), entries.end(), [](const CorpusEntry& a, const CorpusEntry& b) { return a.name < b.name; });
  return entries;
}

}  // namespace hone
