// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/core/task/property.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hone/tuner/candidate.h"

namespace hone {
namespace {

using ::testing::HasSubstr;

std::string TaskText(const std::string& property = "[[property]]\nname = \"order\"\nshape = [\"rows\"]\nbound = 0.5\n",
                     const std::string& examples =
                         "[[example]]\nholds = true\ndims = { rows = 1 }\ninputs.x = [2]\noutputs.ids = [0]\n"
                         "[[example]]\nholds = false\ndims = { rows = 1 }\ninputs.x = [2]\noutputs.ids = [9]\n") {
  return "name = \"sorts\"\nsummary = \"s\"\nclass = \"other\"\n[dims]\nrows = \"rows\"\n"
         "[[tensor]]\nname = \"x\"\nrole = \"in\"\ndtype = \"float32\"\nshape = [\"rows\"]\n"
         "[[tensor]]\nname = \"ids\"\nrole = \"out\"\ndtype = \"int32\"\nshape = [\"rows\"]\n"
         "[[case]]\nrole = \"check\"\ndims = { rows = 4 }\n" +
         property + examples;
}

std::string Oracle(const std::string& args) {
  return "/*hone\n[[launch]]\nkernel = \"o\"\ngrid = [\"1\"]\nblock = [\"1\"]\nargs = [" + args +
         "]\n*/\n__global__ void o() {}\n";
}

TEST(Property, IsReadFromTheTaskAndNeedsNoTolerance) {
  const Result<Task> task = ParseTask(TaskText(), "task.toml");
  ASSERT_TRUE(task.ok()) << task.status().message();
  const std::vector<Property> properties = PropertiesOf(*task);
  ASSERT_EQ(properties.size(), 1u);
  EXPECT_EQ(properties[0].name, "order");
  EXPECT_EQ(properties[0].bound, 0.5);
  EXPECT_EQ(ResolveShape(ResidualsOf(properties[0]), {{"rows", 7}})->elements, 7);
  const std::vector<PropertyExample> examples = ExamplesOf(*task);
  ASSERT_EQ(examples.size(), 2u);
  EXPECT_TRUE(examples[0].holds);
  EXPECT_EQ(examples[1].outputs.at("ids"), std::vector<double>{9});
}

TEST(Property, TheOracleLooksAtTheOutputAndWritesResiduals) {
  const Task task = ParseTask(TaskText(), "task.toml").value();
  EXPECT_TRUE(ParseCandidate(Oracle(R"("x", "ids", "ref:order")"), "oracle.cu", task, true).ok());
  EXPECT_THAT(ParseCandidate(Oracle(R"("x", "ids")"), "oracle.cu", task, true).status().message(),
              HasSubstr("the property 'order' is passed to no kernel"));
  EXPECT_THAT(ParseCandidate(Oracle(R"("x", "ref:ids", "ref:order")"), "oracle.cu", task, true).status().message(),
              HasSubstr("'ids' has no [tolerance.ids]"));
  EXPECT_FALSE(ParseCandidate(Oracle(R"("x", "ids", "ref:order")"), "mine.cu", task, false).ok())
      << "residuals are the oracle's";
}

struct Mistake {
  std::string text;
  const char* says;
};

TEST(Property, WhatMakesNoSenseIsRefusedWithTheRemedy) {
  const std::string right = "[[property]]\nname = \"order\"\nshape = [\"rows\"]\nbound = 0\n";
  for (const Mistake& mistake :
       {Mistake{TaskText(""), "output 'ids' needs [tolerance.ids]"},
        Mistake{TaskText("[[property]]\nname = \"x\"\nshape = [\"rows\"]\nbound = 0\n"),
                "'x' is the name of something else"},
        Mistake{TaskText("[[property]]\nname = \"order\"\nshape = [\"columns\"]\nbound = 0\n"), "columns"},
        Mistake{TaskText("[[property]]\nname = \"order\"\nshape = [\"rows\"]\n"), "the largest residual that is right"},
        Mistake{TaskText("[[property]]\nname = \"order\"\nshape = [\"rows\"]\nbound = -1\n"), "zero or more"},
        Mistake{TaskText(right, ""), "outputs that must fail (holds = false)"},
        Mistake{TaskText(right, "[[hand]]\ndims = { rows = 1 }\ninputs.x = [2]\noutputs.ids = [0]\n"),
                "write [[example]]"},
        Mistake{
            TaskText(right, "[[example]]\nholds = true\ndims = { rows = 2 }\ninputs.x = [2]\noutputs.ids = [0, 1]\n"),
            "has 1 numbers where the shape holds 2"}}) {
    const Result<Task> task = ParseTask(mistake.text, "task.toml");
    ASSERT_FALSE(task.ok()) << mistake.text;
    EXPECT_THAT(task.status().message(), HasSubstr(mistake.says));
  }
}

}  // namespace
}  // namespace hone
