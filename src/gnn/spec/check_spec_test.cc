// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests the shapes of a spec for a graph (rows, widths, keys of dropout), and the errors reported before anything is
// made.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hone/gnn/model_spec.h"

namespace hone::gnn {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

ValueSpec Sum(const std::string& name, const std::string& of) {
  return {name, AggregateSpec{AggregateSpec::How::kSum, AggregateSpec::Scale::kSymmetric}, {of}};
}
ValueSpec LinearValue(const std::string& name, const std::string& of, int64_t width) {
  return {name, LinearSpec{width}, {of}};
}

ModelSpec GcnSpec() {
  return {"gcn",
          {Sum("a", "x"),
           LinearValue("h", "a", 16),
           {"r", ActivateSpec{}, {"h"}},
           {"d", DropSpec{}, {"r"}},
           Sum("b", "d"),
           {"logits", HeadSpec{}, {"b"}}}};
}

TEST(CheckModelSpec, PlacesEveryValueAtTheRowsThatItsUsesRead) {
  const Result<SpecShapes> shapes = CheckModelSpec(GcnSpec(), 50, 7);
  ASSERT_TRUE(shapes.ok()) << shapes.status().message();
  EXPECT_EQ(shapes->layers, 2);
  EXPECT_THAT(shapes->hop, ElementsAre(2, 1, 1, 1, 1, 0, 0));
  EXPECT_THAT(shapes->width, ElementsAre(50, 50, 16, 16, 16, 16, 7));
  EXPECT_EQ(shapes->drop_keys[4].layer, 0);
  EXPECT_EQ(shapes->drop_keys[4].site, 0);
  EXPECT_EQ(LayersOf(GcnSpec()).value(), 2);
}

TEST(CheckModelSpec, ALinearOfTheNodesOwnRowIsComputedForDestinationsAlone) {
  const ModelSpec spec{"sage",
                       {{"n", AggregateSpec{}, {"x"}},
                        LinearValue("l", "n", kClassWidth),
                        LinearValue("r", "x", kClassWidth),
                        {"s", AddSpec{}, {"l", "r"}}}};
  const Result<SpecShapes> shapes = CheckModelSpec(spec, 8, 3);
  ASSERT_TRUE(shapes.ok()) << shapes.status().message();
  EXPECT_THAT(shapes->hop, ElementsAre(1, 0, 0, 0, 0));
}

TEST(CheckModelSpec, CollectReadsTheSeedsRowsOfEveryLayer) {
  const ModelSpec spec{"jumping",
                       {Sum("a", "x"),
                        LinearValue("h", "a", 4),
                        Sum("b", "h"),
                        {"c", CollectSpec{}, {"x", "h", "b"}},
                        {"logits", HeadSpec{}, {"c"}}}};
  const Result<SpecShapes> shapes = CheckModelSpec(spec, 5, 2);
  ASSERT_TRUE(shapes.ok()) << shapes.status().message();
  EXPECT_THAT(shapes->hop, ElementsAre(2, 1, 1, 0, 0, 0));
  EXPECT_THAT(shapes->width, ElementsAre(5, 5, 4, 4, 13, 2));
}

TEST(CheckModelSpec, GivesDropsOfOneLayerSitesOfTheirOwn) {
  const ModelSpec spec{"drops",
                       {{"d0", DropSpec{}, {"x"}},
                        {"d1", DropSpec{}, {"d0"}},
                        Sum("a", "d1"),
                        {"d2", DropSpec{.probability = 0.1, .layer = 0, .site = 128}, {"a"}},
                        {"d3", DropSpec{.probability = 0.5, .layer = -1, .site = -1, .after = ""}, {"d2"}},
                        {"logits", HeadSpec{}, {"d3"}}}};
  const Result<SpecShapes> shapes = CheckModelSpec(spec, 5, 2);
  ASSERT_TRUE(shapes.ok()) << shapes.status().message();
  EXPECT_EQ(shapes->drop_keys[1].site, 3);    // the site of inputs
  EXPECT_EQ(shapes->drop_keys[2].site, 129);  // 128 is taken by a Drop that names it
  EXPECT_EQ(shapes->drop_keys[4].site, 128);
  EXPECT_EQ(shapes->drop_keys[5].site, 0);
}

TEST(CheckModelSpec, NamesValueOperationShapesAndRemedy) {
  const auto error = [](const ModelSpec& spec) {
    const Result<SpecShapes> shapes = CheckModelSpec(spec, 50, 7);
    EXPECT_EQ(shapes.status().code(), StatusCode::kInvalidArgument);
    return shapes.status().message();
  };
  const auto with = [](std::vector<ValueSpec> values) { return ModelSpec{"m", std::move(values)}; };
  EXPECT_THAT(error(with({})), HasSubstr("model 'm' has no values"));
  EXPECT_THAT(error(with({LinearValue("h", "x", kClassWidth)})), HasSubstr("aggregates no neighbors"));
  EXPECT_THAT(error(with({Sum("a", "y")})),
              HasSubstr("value 'a' (aggregate of y) reads 'y', which is no value before it"));
  EXPECT_THAT(error(with({Sum("first", "x"), Sum("b", "frist")})), HasSubstr("did you mean 'first'?"));
  EXPECT_THAT(error(with({Sum("a", "b"), Sum("b", "x")})), HasSubstr("reads 'b', which is made later"));
  EXPECT_THAT(error(with({Sum("a", "x"), Sum("a", "x")})), HasSubstr("has a name that an earlier value has"));
  EXPECT_THAT(error(with({Sum("x", "x")})), HasSubstr("choose a name other than 'x'"));
  EXPECT_THAT(error(with({Sum("a b", "x")})), HasSubstr("letters, digits"));
  EXPECT_THAT(error(with({Sum("a", "x"), Sum("b", "x"), {"l", HeadSpec{}, {"b"}}})),
              HasSubstr("value 'a' (aggregate of x) is read by no value after it"));
  EXPECT_THAT(
      error(with({Sum("a", "x"), LinearValue("h", "a", 16), {"s", AddSpec{}, {"a", "h"}}, {"l", HeadSpec{}, {"s"}}})),
      HasSubstr("value 's' (add of a, h) adds 'a' of 50 columns and 'h' of 16: give them one width"));
  EXPECT_THAT(error(with({Sum("a", "x"), LinearValue("h", "a", 16)})),
              AllOf(HasSubstr("has 16 columns, where the graph has 7 classes"), HasSubstr("end with a head")));
  EXPECT_THAT(error(with({Sum("a", "x"), LinearValue("h", "a", 0)})), HasSubstr("has width 0: use 1 to 65536"));
  EXPECT_THAT(error(with({Sum("a", "x"), {"l", HeadSpec{}, {"a"}}, LinearValue("m", "l", 7)})),
              HasSubstr("a head ends the model"));
  EXPECT_THAT(error(with({Sum("a", "x"), {"s", AddSpec{}, {"a"}}})),
              HasSubstr("has 1 operands, and add takes two or more"));
  EXPECT_THAT(error(with({{"a", AggregateSpec{}, {"x", "x"}}})), HasSubstr("has 2 operands, and aggregate takes one"));
  EXPECT_THAT(error(with({Sum("a", "x"), {"c", CollectSpec{}, {"a"}}, Sum("b", "c"), {"l", HeadSpec{}, {"b"}}})),
              HasSubstr("which a collect before it left alone"));
  EXPECT_THAT(error(with({{"a", AggregateSpec{AggregateSpec::How::kMean, AggregateSpec::Scale::kSymmetric}, {"x"}},
                          {"l", HeadSpec{}, {"a"}}})),
              HasSubstr("give it how = \"sum\""));
  EXPECT_THAT(error(with({Sum("a", "x"), {"h", LinearSpec{7}, {"a"}, "p"}, {"l", HeadSpec{}, {"h"}, "p"}})),
              HasSubstr("calls its parameters 'p', as value 'h' does"));
  EXPECT_THAT(error(with({Sum("a", "x"), {"r", ActivateSpec{}, {"a"}, "p"}, {"l", HeadSpec{}, {"r"}}})),
              HasSubstr("has no parameters to be called 'p'"));
  EXPECT_THAT(error(with({{"d", DropSpec{1.0}, {"x"}}, Sum("a", "d"), {"l", HeadSpec{}, {"a"}}})),
              HasSubstr("probability 1"));
  EXPECT_THAT(error(with({{"d", DropSpec{.layer = 0, .site = 1}, {"x"}},
                          {"e", DropSpec{.layer = 0, .site = 1}, {"d"}},
                          Sum("a", "e"),
                          {"l", HeadSpec{}, {"a"}}})),
              HasSubstr("takes its mask from layer 0, site 1, as value 'd' does"));
  EXPECT_THAT(error(with({{"d", DropSpec{.after = "e"}, {"x"}}, Sum("a", "d"), {"l", HeadSpec{}, {"a"}}})),
              HasSubstr("comes after 'e', which is no drop"));
  EXPECT_THAT(error(with({{"a", AttentionSpec{.width = 4, .heads = 0}, {"x"}}, {"l", HeadSpec{}, {"a"}}})),
              HasSubstr("has 0 heads: use 1 to 64"));
  EXPECT_THAT(error(with({Sum("a", "x"), {"l", HeadSpec{}, {"a"}, "", 9}})), HasSubstr("has stream 9: use 0 to 1"));
}

}  // namespace
}  // namespace hone::gnn
