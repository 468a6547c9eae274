// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "base/process/cgroup_limits.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "base/files/file.h"

namespace hone {
namespace {

class CgroupLimits : public testing::Test {
 protected:
  void Put(const std::string& path, const std::string& text) {
    ASSERT_TRUE(WriteFileAtomically(scratch_ / path, text).ok());
  }
  std::optional<int64_t> Room() { return CgroupRoomBytes({scratch_ / "self", scratch_ / "cgroup"}); }
  std::optional<double> Processors() { return CgroupProcessors({scratch_ / "self", scratch_ / "cgroup"}); }
  TemporaryDirectory scratch_ = std::move(MakeTemporaryDirectory()).value();
};

TEST_F(CgroupLimits, TheTightestOfNestedGroupsCountsAndPagesOfFilesAreFree) {
  Put("self", "0::/user/job\n");
  Put("cgroup/user/job/memory.max", "max\n");
  Put("cgroup/user/job/memory.current", "600\n");
  EXPECT_FALSE(Room().has_value());
  Put("cgroup/user/memory.max", "5000\n");
  Put("cgroup/user/memory.current", "3000\n");
  EXPECT_EQ(Room(), 2000);
  Put("cgroup/user/memory.stat", "anon 1500\nfile 1400\ninactive_file 700\nactive_file 300\n");
  EXPECT_EQ(Room(), 3000);
  Put("cgroup/user/job/memory.max", "900\n");
  EXPECT_EQ(Room(), 300);
  Put("cgroup/user/job/memory.current", "901\n");  // usage exceeds the limit, as may happen for a moment
  EXPECT_EQ(Room(), 0);
}

TEST_F(CgroupLimits, TheFirstVersionHasFilesOfItsOwn) {
  Put("self", "9:name=systemd:/\n4:cpu,memory:/box/inner\n0::/\n");
  Put("cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  Put("cgroup/memory/memory.usage_in_bytes", "100\n");
  EXPECT_FALSE(Room().has_value());
  // The path in /proc/self/cgroup is the host's. The container sees its own group as the root of the mount.
  Put("cgroup/memory/memory.limit_in_bytes", "4096\n");
  Put("cgroup/memory/memory.stat", "inactive_file 1\ntotal_inactive_file 20\ntotal_active_file 30\n");
  EXPECT_EQ(Room(), 4096 - 100 + 50);
}

TEST_F(CgroupLimits, NobodyWhoTellsIsNoLimit) {
  EXPECT_FALSE(Room().has_value());
  Put("self", "nonsense\n::\n0::");
  EXPECT_FALSE(Room().has_value());
}

TEST(AvailableMemory, IsKnownHereAndWithinTheGroupsLimit) {
  const int64_t available = AvailableMemoryBytes();
  EXPECT_GT(available, 0);
  EXPECT_LE(available, static_cast<int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGE_SIZE));
}

TEST_F(CgroupLimits, ProcessorsAreTheTightestQuotaOverItsPeriod) {
  Put("self", "4:cpu,cpuacct:/box\n0::/user/job\n");
  Put("cgroup/user/job/cpu.max", "max 100000\n");
  EXPECT_FALSE(Processors().has_value());
  Put("cgroup/user/cpu.max", "250000 100000\n");
  EXPECT_EQ(Processors(), 2.5);
  Put("cgroup/cpu/box/cpu.cfs_quota_us", "-1\n");
  Put("cgroup/cpu/box/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(Processors(), 2.5);
  Put("cgroup/cpu/box/cpu.cfs_quota_us", "50000\n");
  EXPECT_EQ(Processors(), 0.5);
}

}  // namespace
}  // namespace hone
