// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests that the tables of docs/formats/graph-container.md match the code: same names, numbers and order.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "gnn/graph/container/container_format.h"

namespace hone::gnn {
namespace {

// Returns the rows of the table below a heading, cells trimmed, backticks removed, without the table's two heading
// rows.
std::vector<std::vector<std::string>> Table(const std::string& heading) {
  std::ifstream page(std::string(HONE_SOURCE_DIR) + "/docs/formats/graph-container.md");
  EXPECT_TRUE(page.good());
  std::vector<std::vector<std::string>> rows;
  std::string line;
  bool in_section = false;
  while (std::getline(page, line)) {
    if (line.starts_with("## ")) in_section = line == "## " + heading;
    if (!in_section || !line.starts_with("|")) continue;
    std::vector<std::string> cells;
    std::istringstream cell_stream(line.substr(1));
    for (std::string cell; std::getline(cell_stream, cell, '|');) {
      std::erase(cell, '`');
      cell.erase(0, cell.find_first_not_of(' '));
      cell.erase(cell.find_last_not_of(' ') + 1);
      cells.push_back(cell);
    }
    rows.push_back(cells);
  }
  EXPECT_GT(rows.size(), 2u) << heading;
  rows.erase(rows.begin(), rows.begin() + 2);
  return rows;
}

void ExpectFields(const std::string& heading, std::span<const NamedField> fields) {
  const auto rows = Table(heading);
  ASSERT_EQ(rows.size(), fields.size()) << heading;
  for (size_t i = 0; i < fields.size(); ++i) {
    EXPECT_EQ(rows[i][0], fields[i].name);
    EXPECT_EQ(rows[i][1], std::to_string(fields[i].offset)) << fields[i].name;
    EXPECT_EQ(rows[i][2], std::to_string(fields[i].bytes)) << fields[i].name;
  }
}

void ExpectCodes(const std::string& heading, std::span<const NamedCode> codes) {
  const auto rows = Table(heading);
  ASSERT_EQ(rows.size(), codes.size()) << heading;
  for (size_t i = 0; i < codes.size(); ++i) {
    EXPECT_EQ(rows[i][0], codes[i].name);
    EXPECT_EQ(rows[i][1], std::to_string(codes[i].code)) << codes[i].name;
  }
}

TEST(ContainerPage, HasTheFieldsOfTheCode) {
  ExpectFields("Fixed part", HeaderFields());
  ExpectFields("Section table", EntryFields());
}

TEST(ContainerPage, HasTheCodesOfTheCode) {
  ExpectCodes("Graph flags", GraphFlagNames());
  ExpectCodes("Section types", SectionTypeNames());
  ExpectCodes("Data types", SectionDtypeNames());
}

TEST(ContainerPage, HasTheConstantsOfTheCode) {
  const auto meaning = [](const std::string& field) {
    for (const auto& row : Table("Fixed part")) {
      if (row[0] == field) return row[3];
    }
    return std::string();
  };
  EXPECT_THAT(meaning("magic"), testing::HasSubstr(std::string(kContainerMagic)));
  EXPECT_THAT(meaning("version"), testing::StartsWith(std::to_string(kContainerVersion) + ";"));
  EXPECT_THAT(meaning("entry_bytes"), testing::StartsWith(std::to_string(kContainerEntryBytes)));
  EXPECT_THAT(meaning("chunk_bytes"), testing::StartsWith(std::to_string(kContainerChunkBytes)));
  EXPECT_THAT(meaning("header_bytes"), testing::HasSubstr(std::to_string(kContainerAlignment)));
}

}  // namespace
}  // namespace hone::gnn
