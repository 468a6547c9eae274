// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests that the TOML tree keeps lines and order, and that its readers name what is wrong.
#include "base/text/toml_document.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text/nearest_word.h"

namespace hone {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

TomlNode ParsedToml(const std::string& text, int line_offset = 0) {
  Result<TomlNode> node = ParseToml(text, "f.toml", line_offset);
  EXPECT_TRUE(node.ok()) << node.status().message();
  return std::move(node).value();
}

TEST(ParseToml, KeepsFileOrderAndLines) {
  const TomlNode root =
      ParsedToml("zebra = 1\napple = 2.5\n\n[middle]\nb = true\na = \"s\"\n[[list]]\nx = 1\n[[list]]\nx = 2\n");
  std::vector<std::string> keys;
  for (const auto& [key, node] : root.entries) keys.push_back(key);
  EXPECT_THAT(keys, ElementsAre("zebra", "apple", "middle", "list"));
  EXPECT_EQ(root.Find("apple")->line, 2);
  EXPECT_EQ(root.Find("apple")->number, 2.5);
  EXPECT_EQ(root.Find("middle")->line, 4);
  EXPECT_EQ(root.Find("middle")->entries[0].first, "b");
  EXPECT_EQ(root.Find("middle")->Find("a")->line, 6);
  ASSERT_EQ(root.Find("list")->items.size(), 2u);
  EXPECT_EQ(root.Find("list")->items[0].line, 7);
  EXPECT_EQ(root.Find("list")->items[1].line, 9);
  EXPECT_EQ(root.Find("list")->items[1].Find("x")->line, 10);
}

TEST(ParseToml, AddsTheLineOffsetEverywhere) {
  EXPECT_EQ(ParsedToml("\na = 1", 40).Find("a")->line, 42);
  Result<TomlNode> broken = ParseToml("a = 1\nb = \n", "f.toml", 40);
  ASSERT_FALSE(broken.ok());
  EXPECT_THAT(broken.status().message(), HasSubstr("f.toml:42"));
}

TEST(ParseToml, HostileNestingIsAnError) { EXPECT_FALSE(ParseToml("a = " + std::string(100000, '['), "f.toml").ok()); }

TEST(ParseToml, AHeaderWithoutANameIsAnErrorAtItsLine) {
  for (const char* header : {"[?]", "[[,", "[ =", "[[ ?x]]"}) {
    Result<TomlNode> broken = ParseToml("a = 1\n[fine]\n" + std::string(header) + "\nb = 2\n", "f.toml", 10);
    ASSERT_FALSE(broken.ok()) << header;
    EXPECT_THAT(broken.status().message(), HasSubstr("f.toml:13: not valid TOML")) << header;
  }
}

TEST(TableReader, NamesFileLineContextKeyAndKinds) {
  const TomlNode root = ParsedToml("a = 1\nb = \"text\"\nc = [1, true]\nd = [[1]]\n");
  const auto error = [&](auto read_key) {
    TomlErrors errors("f.toml");
    TableReader reader(root, "[[launch]] #1", errors);
    read_key(reader);
    return errors.status().message();
  };
  EXPECT_EQ(error([](TableReader& r) { (void)r.String("a"); }),
            "f.toml:1: [[launch]] #1 field 'a': expected a string, found an integer");
  EXPECT_THAT(error([](TableReader& r) { (void)r.Integer("b"); }), HasSubstr("f.toml:2"));
  EXPECT_THAT(error([](TableReader& r) { (void)r.Number("b"); }), HasSubstr("expected a number"));
  EXPECT_THAT(error([](TableReader& r) { (void)r.Boolean("b"); }), HasSubstr("true or false"));
  EXPECT_THAT(error([](TableReader& r) { (void)r.Strings("c"); }), AllOf(HasSubstr("f.toml:3"), HasSubstr("strings")));
  EXPECT_THAT(error([](TableReader& r) { (void)r.Table("a"); }), HasSubstr("a table"));
  EXPECT_THAT(error([](TableReader& r) { (void)r.Tables("d"); }), HasSubstr("[[d]]"));
  EXPECT_THAT(error([](TableReader& r) { (void)r.RequiredString("e"); }), HasSubstr("field 'e': is missing"));
  EXPECT_THAT(error([](TableReader& r) { (void)r.Word("b", {"x", "y"}); }), HasSubstr("'text' is not one of x, y"));
}

TEST(TableReader, AnArrayHasATableForEachWeightOfALargeNetworkAndNoMoreThanALimit) {
  const auto read = [](size_t count) {
    std::string text;
    for (size_t i = 0; i < count; ++i) text += "[[tensor]]\nname = \"w\"\n";
    const TomlNode root = ParsedToml(text);
    TomlErrors errors("f.toml");
    TableReader reader(root, "", errors);
    const size_t tables = reader.Tables("tensor").size();
    return std::pair(tables, errors.status().message());
  };
  EXPECT_EQ(read(1200), std::pair(size_t{1200}, std::string()));
  EXPECT_EQ(read(kMaxTomlTables + 1).first, 0u);
  EXPECT_THAT(read(kMaxTomlTables + 1).second, HasSubstr("has 4097 entries; at most 4096 are read"));
}

TEST(TableReader, FinishNamesTheKeyNobodyTookAndItsNeighbour) {
  const TomlNode root = ParsedToml("grid = 1\nblok = 2\n");
  TomlErrors errors("f.toml");
  TableReader reader(root, "", errors);
  (void)reader.Integer("grid");
  (void)reader.Integer("block");
  reader.Finish();
  EXPECT_EQ(errors.status().message(), "f.toml:2: field 'blok': is not a known field (did you mean 'block'?)");
}

TEST(TomlErrors, KeepsTheFirst) {
  TomlErrors errors("f");
  EXPECT_TRUE(errors.ok());
  errors.Add(3, "", "", "one");
  errors.Add(1, "", "", "two");
  EXPECT_EQ(errors.status().message(), "f:3: one");
}

TEST(TomlErrors, KeepsAsManyAsAskedForInTheOrderOfTheirLines) {
  TomlErrors errors("f", 2);
  errors.Add(3, "", "", "one");
  errors.Add(3, "", "", "one");
  errors.Add(1, "", "", "two");
  errors.Add(2, "", "", "three");
  EXPECT_EQ(errors.status().message(), "f:1: two\nf:3: one");
}

TEST(NearestWord, SuggestsOnlyWhatIsClose) {
  EXPECT_EQ(NearestWord("algin", {"name", "align"}), "align");
  EXPECT_EQ(NearestWord("xyz", {"name", "align"}), "");
  EXPECT_EQ(NearestWord("gird", {"block", "grid"}), "grid");
  EXPECT_EQ(EditDistance("", "abc"), 3u);
  EXPECT_EQ(EditDistance("kitten", "sitting"), 3u);
  EXPECT_EQ(EditDistance("relu", "rleu"), 1u);
  EXPECT_THAT(Suggestion("xyz", {"name", "align"}), HasSubstr("known: name, align"));
}

std::string RepeatText(const std::string& piece, int times) {
  std::string text;
  for (int i = 0; i < times; ++i) text += piece;
  return text;
}

// Regression: each of these texts once ended the program, or would have kept it busy for minutes.
TEST(TomlDocument, TextsThatNestTooDeeplyAreRefusedWhereTheyDo) {
  const auto message = [](const std::string& text) { return ParseToml(text, "f.toml", 10).status().message(); };
  const std::vector<std::string> keys = {"a" + RepeatText(".a", 20000) + " = 1", "[a" + RepeatText(".a", 20000) + "]",
                                         "'a'" + RepeatText(" . \"a\"", 20000) + " = 1",
                                         "b = { a" + RepeatText(".a", 20000) + " = 1 }"};
  for (const std::string& key : keys) {
    EXPECT_EQ(message("x = 1\n" + key).rfind("f.toml:12: a key has more than 16 parts between dots", 0), 0u)
        << message(key);
  }
  for (const std::string piece : {"[", "{a=", "[{a=[", "[ # ]\n"}) {
    const std::string deep_error = message("x = \"[[[\"\na = " + RepeatText(piece, 100000));
    EXPECT_EQ(deep_error.rfind("f.toml:", 0), 0u) << deep_error;
    EXPECT_NE(deep_error.find("nested more than 32 deep"), std::string::npos) << deep_error;
  }
  EXPECT_NE(message(std::string(kMaxTomlBytes, '\n') + "a = 1").find("at most"), std::string::npos);
  std::string many_keys;
  for (int i = 0; i < 5000; ++i) many_keys += "k" + std::to_string(i) + " = 1\n";
  EXPECT_EQ(message(many_keys).rfind("f.toml:4107: the table has more than 4096 keys", 0), 0u) << message(many_keys);
}

TEST(TomlDocument, BracketsAndDotsInTextsAndCommentsAreNoNesting) {
  const std::string brackets(1000, '['), dots(1000, '.');
  for (const std::string& text :
       {"a = '" + brackets + dots + "'", R"(a = "\")" + brackets + dots + R"(\\")", "# " + brackets + dots + "\na = 1",
        "a = '''\n" + brackets + "'" + dots + "'''''\nb = [1]", "a = \"\"\"\n\\\"\"\\\"" + brackets + "\"\"\"\nb = [1]",
        std::string("a = [[[[[[[[1.5]]]]]]]]\nb.c.d = 1979-05-27T07:32:00.999\n")}) {
    EXPECT_TRUE(ParseToml(text, "f.toml").ok()) << ParseToml(text, "f.toml").status().message();
  }
}

TEST(TomlDocument, CharactersOutsideAsciiStandInStringsAndCommentsOnly) {
  // Found by fuzzing: toml++ assumes that this text cannot occur.
  const auto number = ParseToml("[tune]\nBLOCK = [256, 102\xc3\xa2\n]", "f.toml");
  ASSERT_FALSE(number.ok());
  EXPECT_THAT(number.status().message(), testing::HasSubstr("f.toml:2: a character outside ASCII"));
  EXPECT_FALSE(ParseToml("gr\xc3\xb6\xc3\x9f"
                         "e = 1",
                         "f.toml")
                   .ok());
  // A quote right behind a number or a control character begins no text, so these letters stand outside of texts.
  for (const char* fault : {"a = 6.3\x03\"\xd0\xb9[.\"\n", "a = 6'\xd0\xb9'\n", "9\"x\":9\"\xd1\x95/\"\n"}) {
    const auto refused = ParseToml(fault, "f.toml");
    ASSERT_FALSE(refused.ok()) << fault;
    EXPECT_THAT(refused.status().message(), testing::HasSubstr("f.toml:1: a character outside ASCII")) << fault;
  }
  EXPECT_TRUE(ParseToml("a=\"\xd0\xb9\"\nb=['\xd0\xb9',\"\"]\n[t.\"\xd0\xb9\"]\nc={d='\xd0\xb9'}\n", "f.toml").ok());
  const auto text = ParseToml(
      "\xef\xbb\xbf# \xc3\xb6\n\"\xc3\xb6\" = \"\xc3\xa2\" # \xc3\xa2\n'\xc3\xa2' = '''\n\xc3\xa2'''\n", "f.toml");
  ASSERT_TRUE(text.ok()) << text.status().message();
  EXPECT_EQ(text->entries.size(), 2u);
}

// Found by fuzzing: toml++ 3.3 has undefined behaviour where it asks whether most of these characters are white space.
TEST(TomlDocument, LettersOfEveryScriptMayFollowALineThatEndsInABackslash) {
  for (const char* letter : {"\xc2\xa1", "\xc3\xa9", "\xd1\x95", "\xd2\x99", "\xe2\xb1\x9e", "\xe3\x81\x82",
                             "\xef\xac\xa6", "\xef\xbb\xbe", "\xf0\x9f\x98\x80"}) {
    const auto text = ParseToml(
        std::string("a = \"\"\"x \\\n  ") + letter + " y\"\"\" # " + letter + "\n\"" + letter + "\" = '" + letter + "'",
        "f.toml");
    ASSERT_TRUE(text.ok()) << letter << ": " << text.status().message();
    ASSERT_EQ(text->entries.size(), 2u) << letter;
    EXPECT_EQ(text->entries[0].second.string, std::string("x ") + letter + " y");
    EXPECT_EQ(text->entries[1].first, letter);
    EXPECT_EQ(text->entries[1].second.string, letter);
  }
}

// Found by fuzzing: behind a fault, toml++ reads on in a name or value where our own look at the text sees a string.
TEST(TomlDocument, LettersOutsideAsciiInBrokenValuesAreRefusedWithTheirLine) {
  for (const char* fault : {"x = 1\na = 9\x13+\"9\"9@9%''9:t\xd1\x95", "x = 1\na = 9_''9~9e*19\xc5\x9e[",
                            "x = 1\na = 6.'\x03\x8d$\xd1\x83", "x = 1\na = 6\x03.\"3\xd0\x9b[.ro\n",
                            "x = 1\ns =+\x03['\'\xef\xbb\xbdt--\n", "x = 1\ns =9%''\xef\xbb\xbdt--\n"}) {
    const auto refused = ParseToml(fault, "f.toml");
    ASSERT_FALSE(refused.ok()) << fault;
    EXPECT_EQ(refused.status().message().rfind("f.toml:2: ", 0), 0u) << refused.status().message();
  }
}

TEST(TomlDocument, AMessageIsNeverLongerThanAPage) {
  const Result<TomlNode> root = ParseToml(std::string(1 << 20, 'k') + " = 1", "f.toml");
  ASSERT_TRUE(root.ok());
  TomlErrors errors("f.toml");
  TableReader reader(*root, "", errors);
  (void)reader.Integer("known");
  reader.Finish();
  EXPECT_LT(errors.status().message().size(), 5000u);
}

}  // namespace
}  // namespace hone
