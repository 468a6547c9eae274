// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests that each list of fields visits every field of its struct, once and under a unique name: a field added only to
// the struct would be lost between processes and in the run store.
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "tuner/core/evaluation/device_facts_fields.h"
#include "tuner/core/evaluation/evaluation_fields.h"
#include "tuner/core/evaluation/request_fields.h"
#include "tuner/core/fields/field_count.h"

namespace hone {
namespace {

template <typename Struct>
class FieldList : public testing::Test {};

using Listed =
    testing::Types<DeviceFacts, TimingDetail, LibraryResult, CaseResult, KernelResources, Stage, Mismatch, Finding,
                   MemorySite, KernelProfile, CaseProfile, ProfileFinding, SassLine, Profile, Evaluation>;
TYPED_TEST_SUITE(FieldList, Listed);

TYPED_TEST(FieldList, VisitsEveryField) {
  EXPECT_EQ(VisitedFields<TypeParam>(), FieldCount<TypeParam>())
      << "a field was added to the struct and not to its VisitFields, or the other way round";
}

TYPED_TEST(FieldList, VisitsEachFieldOnceUnderItsOwnName) {
  const TypeParam value{};
  std::set<std::string> names;
  std::set<const void*> places;
  VisitFields(value, [&](const char* name, const auto& field, const auto&...) {
    EXPECT_TRUE(names.insert(name).second) << name;
    EXPECT_TRUE(places.insert(&field).second) << name;
  });
}

TEST(RequestFieldList, VisitsEveryFieldButTheSources) {
  EXPECT_EQ(VisitedFields<EvaluationRequest>() + kRequestSources, FieldCount<EvaluationRequest>());
}

struct Three {
  std::string a;
  std::map<std::string, int> b;
  std::optional<Interval> c;
};
template <MaybeConst<Three> T, typename Visitor>
void VisitFields(T& three, Visitor&& visit) {
  visit("a", three.a);
  visit("c", three.c);
}

// Tests the counter itself: it detects a list that lacks a field.
TEST(FieldCount, SeesAFieldThatAListForgets) {
  EXPECT_EQ(FieldCount<Three>(), 3u);
  EXPECT_EQ(VisitedFields<Three>(), 2u);
}

}  // namespace
}  // namespace hone
