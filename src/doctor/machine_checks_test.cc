// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "doctor/machine_checks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "base/files/file.h"
#include "base/process/sandbox.h"

namespace hone {
namespace {

using testing::HasSubstr;

class MachineChecks : public testing::Test {
 protected:
  std::string Put(const std::string& path, const std::string& text) {
    EXPECT_TRUE(WriteFileAtomically(scratch_ / path, text).ok());
    return scratch_ / path;
  }
  TemporaryDirectory scratch_ = std::move(MakeTemporaryDirectory()).value();
  MachinePlaces places_{scratch_ / "meminfo", scratch_ / "cpuinfo", scratch_ / "thp", {scratch_ / "self", scratch_ / "cgroup"}};
};

TEST_F(MachineChecks, MemoryTellsTheControlGroupsLimitBesideTheMachines) {
  Put("meminfo", "MemTotal:       8388608 kB\nMemFree: 1 kB\nMemAvailable:   6291456 kB\n");
  EXPECT_EQ(MemoryCheck(places_).found, "6.0 of 8.0 GiB are available");
  Put("self", "0::/\n");
  Put("cgroup/memory.max", "4294967296\n");
  Put("cgroup/memory.current", "1073741824\n");
  EXPECT_EQ(MemoryCheck(places_).found, "6.0 of 8.0 GiB are available; the process's control group leaves 3.0 GiB");
}

TEST_F(MachineChecks, ProcessorsTellAQuotaThatIsBelowTheirNumber) {
  Put("cpuinfo", "processor\t: 0\nmodel name\t: Abacus 3000\n");
  EXPECT_THAT(ProcessorsCheck(places_).found, testing::EndsWith("for this process (Abacus 3000)"));
  Put("self", "0::/\n");
  Put("cgroup/cpu.max", "50000 100000\n");
  EXPECT_THAT(ProcessorsCheck(places_).found, HasSubstr("allows the time of 0.5"));
}

TEST_F(MachineChecks, HugePagesThatTheKernelNeverGivesAreMissingWithTheRemedy) {
  Put("thp", "always [madvise] never\n");
  EXPECT_EQ(HugePagesCheck(places_).standing, Standing::kHere);
  Put("thp", "always madvise [never]\n");
  const Check never = HugePagesCheck(places_);
  EXPECT_EQ(never.standing, Standing::kMissing);
  EXPECT_THAT(never.remedy, HasSubstr(places_.huge_pages));
}

TEST_F(MachineChecks, AFolderThatIsNotThereYetIsJudgedByTheOneAboveAndNotMade) {
  const Check check = FolderCheck("cache", "cache", scratch_ / "a/b", "keeps modules",
                                  "set HONE_CACHE to another folder", /*needed=*/true);
  EXPECT_THAT(check.found, HasSubstr("GiB free"));
  EXPECT_NE(check.standing, Standing::kNeeded);
  EXPECT_FALSE(FileExists(scratch_ / "a"));
}

TEST_F(MachineChecks, AFolderBelowAFileCannotBeMadeAndTheVariableThatMovesItIsNamed) {
  Put("file", "");
  const Check check = FolderCheck("cache", "cache", scratch_ / "file/below", "keeps modules",
                                  "set HONE_CACHE to another folder", /*needed=*/true);
  EXPECT_EQ(check.standing, Standing::kNeeded);
  EXPECT_THAT(check.found, HasSubstr("is no folder"));
  EXPECT_THAT(check.remedy, HasSubstr("HONE_CACHE"));
  EXPECT_EQ(FolderCheck("state", "state", scratch_ / "file/below", "", "set HONE_STATE", /*needed=*/false).standing,
            Standing::kMissing);
}

TEST_F(MachineChecks, EveryProtectionThatIsWarnedOfIsMissing) {
  size_t missing = 0;
  for (const Check& check : SandboxChecks().checks) missing += check.standing == Standing::kMissing;
  if (!ProbeSandbox().Warnings().empty()) {
    EXPECT_GT(missing, 0u);
  }
  EXPECT_EQ(SandboxChecks().checks.front().standing == Standing::kMissing, ProbeSandbox().landlock_abi == 0);
}

}  // namespace
}  // namespace hone
