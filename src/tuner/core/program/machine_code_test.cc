// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/core/program/machine_code.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tuner/core/plan/plan_test_support.h"
#include "tuner/core/program/translation_unit.h"

namespace hone {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing_support::OneLaunch;
using testing_support::PlanTask;

std::string Joined(const std::string& plan, const std::map<std::string, std::string>& images = {{"kernel.cubin",
                                                                                                 "\x7f"
                                                                                                 "ELF"}}) {
  Result<std::string> text = JoinMachineCode(plan, images);
  EXPECT_TRUE(text.ok()) << text.status().message();
  return text.ok() ? *text : "";
}

std::string PlanRefusal(const std::string& plan) {
  return ParseCandidate(Joined(plan), "k.honek", PlanTask()).status().message();
}

TEST(MachineCode, ImagesOfAnyBytesComeBackFromTheText) {
  std::string bytes;
  for (int i = 0; i < 5000; ++i) bytes += static_cast<char>(i * 37);
  const std::string text = Joined("x = 1", {{"a.cubin", bytes}, {"b.cubin", ""}, {"kernel.2.ptx", ".version 8.0\n"}});
  EXPECT_EQ(text.find('\0'), std::string::npos);
  EXPECT_EQ(*ImageIn(text, "a.cubin"), bytes);
  EXPECT_EQ(*ImageIn(text, "b.cubin"), "");
  EXPECT_EQ(*ImageIn(text, "kernel.2.ptx"), ".version 8.0\n");
  EXPECT_THAT(ImageIn(text, "c.cubin").status().message(), HasSubstr("there are a.cubin, b.cubin, kernel.2.ptx"));
}

TEST(MachineCode, DamageIsSaid) {
  const std::string text = Joined("", {{"kernel.cubin", std::string(300, 'x')}});
  const auto damaged = [](std::string changed) { return ImageIn(changed, "kernel.cubin").status().message(); };
  EXPECT_THAT(damaged(text.substr(0, text.size() - 20)), HasSubstr("damaged"));
  std::string other = text;
  other[text.size() - 30] = '!';
  EXPECT_THAT(damaged(other), HasSubstr("damaged"));
  other = text;
  other.replace(text.find(" 300\n"), 5, " 301\n");
  EXPECT_THAT(damaged(other), HasSubstr("has 300 bytes and should have 301"));
  EXPECT_THAT(damaged(text + "int main() {}\n"), HasSubstr("does not begin with //"));
  EXPECT_THAT(damaged("/*hone\n*/\n"), HasSubstr("no other"));
}

TEST(MachineCode, NamesAndSizesAreBounded) {
  for (const char* name :
       {"../kernel.cubin", ".cubin", "a/b.cubin", "kernel.so", "k k.ptx", ".a.ptx", "kernel.cubin\n"}) {
    EXPECT_FALSE(IsImageName(name)) << name;
    EXPECT_FALSE(JoinMachineCode("", {{name, "x"}}).ok()) << name;
  }
  // Compilers that name an image after a kernel and its constants write long names.
  EXPECT_TRUE(IsImageName(std::string(kMostImageNameBytes - 6, 'a') + ".cubin"));
  const std::string longer = std::string(kMostImageNameBytes - 5, 'a') + ".cubin";
  EXPECT_FALSE(IsImageName(longer));
  EXPECT_THAT(JoinMachineCode("", {{longer, "x"}}).status().message(), HasSubstr("has 241 characters, and the name of an image has at most 240"));
  EXPECT_THAT(JoinMachineCode("", {{"k k.ptx", "x"}}).status().message(), HasSubstr("'k k.ptx' is not the name of an image"));
  EXPECT_FALSE(JoinMachineCode("", {}).ok());
  EXPECT_FALSE(JoinMachineCode("a = 1 # */", {{"kernel.cubin", "x"}}).ok());
  EXPECT_THAT(JoinMachineCode("", {{"kernel.cubin", std::string(kMostImageBytes + 1, 'x')}}).status().message(),
              HasSubstr("leave variants out"));
  // The largest allowed image is also parsed as part of a candidate.
  const std::string plan = "mode = \"cubin\"\n" + OneLaunch();
  EXPECT_TRUE(ParseCandidate(Joined(plan, {{"kernel.cubin", std::string(kMostImageBytes - plan.size(), 'x')}}),
                             "k.honek", PlanTask())
                  .ok());
}

TEST(MachineCode, APlanNamesSymbolsAndAnImageForEachChoiceOfTunables) {
  const Result<Candidate> candidate =
      ParseCandidate(Joined("mode = \"cubin\"\nimage = \"kernel.VARIANT.cubin\"\n[tune]\nVARIANT = [0, 1]\nWARPS = [4, "
                            "8]\n[[launch]]\nkernel = \"_Z1kILi3EEvPf$1.x\"\n"
                            "grid = [\"tokens\"]\nblock = [\"32 * WARPS\"]\nargs = [\"x\", \"out\", \"d:i32\", "
                            "\"eps:f32\", \"0:u64\"]\n"),
                     "k.honek", PlanTask());
  ASSERT_TRUE(candidate.ok()) << candidate.status().message();
  EXPECT_EQ(candidate->plan.machine_code, "cubin");
  const std::vector<CompileUnit> units = CompileUnits(*candidate, {{"VARIANT", 1}, {"WARPS", 8}});
  ASSERT_EQ(units.size(), 1u);
  const TranslationUnit unit = MakeTranslationUnit(*candidate, PlanTask(), units.front());
  EXPECT_EQ(unit.image, "kernel.1.cubin");
  EXPECT_THAT(unit.kernels, ElementsAre("_Z1kILi3EEvPf$1.x"));
  ASSERT_EQ(unit.signatures.size(), 1u);
  EXPECT_THAT(unit.signatures.front().argument_bytes, ElementsAre(8, 8, 4, 4, 8));
  ASSERT_TRUE(unit.signatures.front().block);
  EXPECT_THAT(*unit.signatures.front().block, ElementsAre(256, 1, 1));
}

TEST(MachineCode, WhatBelongsToSourceIsRefused) {
  const std::string launch = OneLaunch();
  EXPECT_THAT(PlanRefusal("mode = \"cubin\"\noptions = [\"-lineinfo\"]\n" + launch), HasSubstr("compiled already"));
  EXPECT_THAT(PlanRefusal("mode = \"cubin\"\ninclude_set = \"full\"\n" + launch), HasSubstr("compiled already"));
  EXPECT_THAT(PlanRefusal("mode = \"cubin\"\nimage = \"../k.cubin\"\n" + launch),
              HasSubstr("is not the name of a .cubin file"));
  EXPECT_THAT(PlanRefusal("mode = \"cubin\"\nimage = \"" + std::string(300, 'k') + ".cubin\"\n" + launch),
              HasSubstr("has 306 characters, and the name of an image has at most 240"));
  EXPECT_THAT(PlanRefusal("mode = \"ptx\"\nimage = \"k.cubin\"\n" + launch),
              HasSubstr("is not the name of a .ptx file"));
  EXPECT_THAT(PlanRefusal("image = \"k.cubin\"\n" + launch), HasSubstr("belongs to mode"));
  EXPECT_THAT(
      PlanRefusal("mode = \"cubin\"\n[[launch]]\nkernel = \"k<4>\"\ngrid = 1\nblock = 1\nargs = [\"x\", \"out\"]\n"),
      HasSubstr("not the symbol of a kernel"));
  EXPECT_FALSE(
      ParseCandidate(Joined("mode = \"cubin\"\n" + OneLaunch("", R"(["x", "ref:out"])")), "oracle", PlanTask(), true)
          .ok());
}

}  // namespace
}  // namespace hone
