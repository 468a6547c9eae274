// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/evaluate/sanitizing/sanitizer_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hone {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

SanitizerFault OnlyFault(const std::string& text) {
  const SanitizerLog log = ReadSanitizerLog(text);
  EXPECT_EQ(log.faults.size(), 1u) << text;
  return log.faults.empty() ? SanitizerFault{} : log.faults[0];
}

TEST(SanitizerReport, AnAccessPastTheEndHasKernelThreadAndAddress) {
  const SanitizerFault fault = OnlyFault(
      "========= COMPUTE-SANITIZER\n========= Invalid __global__ write of size 16 bytes\n=========     at copy_rows+0x1a0\n"
      "=========     by thread (3,0,0) in block (7,0,0)\n=========     Access to 0x7f2a8c000fac is out of bounds\n"
      "=========     and is 1 bytes after the nearest allocation at 0x7f2a8c000000 of size 4,012 bytes\n========= \n");
  EXPECT_EQ(fault.kind, "out_of_bounds");
  EXPECT_EQ(fault.kernel, "copy_rows");
  EXPECT_EQ(fault.thread, "thread (3,0,0) in block (7,0,0)");
  EXPECT_EQ(fault.address, 0x7f2a8c000facu);
  EXPECT_EQ(fault.bytes, 16);
  EXPECT_TRUE(fault.writes);
  EXPECT_FALSE(fault.shared);
}

// Parts of logs by compute-sanitizer 2025.3.1 on an H200.
TEST(SanitizerReport, ALogOfARealRunIsUnderstood) {
  const SanitizerLog log = ReadSanitizerLog(
      "========= COMPUTE-SANITIZER\n========= Invalid __shared__ read of size 4 bytes\n=========     at shared_past+0x130\n"
      "=========     by thread (192,0,0) in block (2,0,0)\n=========     Access to 0x800 is out of bounds\n========= \n"
      "========= Invalid __global__ read of size 8 bytes\n=========     at misaligned+0xf0\n=========     by thread (1,0,0) in block (0,0,0)\n"
      "=========     Access to 0x7f0736e0000c is misaligned\n=========     and is inside the nearest allocation at 0x7f0736e00000 of size 4,012 bytes\n"
      "========= \n========= Program hit CUDA_ERROR_LAUNCH_FAILED (error 719) due to \"unspecified launch failure\" on CUDA API call to cuStreamSynchronize.\n"
      "========= \n========= Target application returned an error\n========= Warning: Error buffer overflow has been detected. Some records have been dropped\n"
      "========= \n========= ERROR SUMMARY: 257 errors\n"
      "========= ERROR SUMMARY: 251 errors were not printed. Use --print-limit option to adjust the number of printed errors\n");
  ASSERT_EQ(log.faults.size(), 2u);
  EXPECT_TRUE(log.faults[0].shared);
  EXPECT_EQ(log.faults[0].address, 0x800u);
  EXPECT_EQ(log.faults[1].kind, "misaligned");
  EXPECT_EQ(log.faults[1].kernel, "misaligned");
  EXPECT_EQ(log.errors, 257);
  EXPECT_THAT(log.trouble, IsEmpty());
}

TEST(SanitizerReport, OtherFormsOfTheSameAreUnderstood) {
  EXPECT_EQ(OnlyFault("========= Invalid __global__ read of size 4 bytes\n=========     at 0x160 in memcheck_demo.cu:6:unaligned(void)\n"
                      "=========     Address 0x7f6510c00001 is misaligned\n").kind, "misaligned");
  EXPECT_EQ(OnlyFault("========= Invalid __shared__ read of size 4 bytes\n=========     at k():0x160 in memcheck_demo.cu:6\n").kernel, "k()");
  EXPECT_TRUE(OnlyFault("========= Uninitialized __shared__ memory read of size 4 bytes\n=========     at k+0x1a0\n=========     Address 0x0\n").shared);
  EXPECT_EQ(OnlyFault("========= Uninitialized __global__ memory read of size 8 bytes\n=========     at k+0x1a0\n=========     Address 0x7f00\n").kind,
            "uninitialised_read");
  EXPECT_TRUE(OnlyFault("========= Error: Race reported between Write access at k+0xf0\n=========     and Read access at k+0x280 [4 hazards]\n").certain);
  EXPECT_FALSE(OnlyFault("========= Warning: Race reported between Read access at k+0xf0\n=========     and Write access at k+0x280 [4 hazards]\n").certain);
  EXPECT_FALSE(OnlyFault("========= WARN:(Warp Level Programming) Race reported between Read access at k+0xf0\n").certain);
  EXPECT_EQ(OnlyFault("========= Potential invalid __shared__ read of size 4 bytes\n=========     at k+0x170\n"
                      "=========     Address 0x1000400 is located in a block that might have already exited\n").kind, "shared_race");
}

TEST(SanitizerReport, TheSummaryCountsWhatIsNotUnderstood) {
  const SanitizerLog log = ReadSanitizerLog("========= COMPUTE-SANITIZER\n========= Warp is out of its mind\n========= ERROR SUMMARY: 1,203 errors\n");
  EXPECT_THAT(log.faults, IsEmpty());
  EXPECT_TRUE(log.finished);
  EXPECT_EQ(log.errors, 1203);
}

TEST(SanitizerReport, ItsOwnTroubleIsKept) {
  const SanitizerLog log = ReadSanitizerLog("========= COMPUTE-SANITIZER\n========= Error: Target application terminated before first instrumented API call\n");
  EXPECT_FALSE(log.finished);
  EXPECT_THAT(log.trouble, HasSubstr("terminated before first instrumented"));
}

// A candidate chooses its kernels' names, which may hold line feeds and whole lines of a report.
TEST(SanitizerReport, AKernelsNameCannotHideAFault) {
  const SanitizerLog log = ReadSanitizerLog(
      "========= Invalid __global__ read of size 4 bytes\n=========     at k\n========= \n========= ERROR SUMMARY: 0 errors\n+0x90\n"
      "=========     by thread (0,0,0) in block (0,0,0)\n=========     Address 0x7f00 is out of bounds\n========= ERROR SUMMARY: 1 error\n");
  EXPECT_EQ(log.faults.size(), 1u);
  EXPECT_EQ(log.errors, 1);
  std::string many;
  for (int i = 0; i < 1000; ++i) many += "========= Invalid __global__ read of size 4 bytes\n=========     at " + std::string(500, '\x01') + "+0x1\n";
  const SanitizerLog flood = ReadSanitizerLog(many);
  EXPECT_LE(flood.faults.size(), 16u);
  EXPECT_EQ(flood.faults[0].kernel, std::string(160, '?'));
}

TEST(SanitizerReport, TheCommandWatchesOnlyTheProcessAndSharedMemoryWhereItCan) {
  const std::vector<std::string> memcheck = SanitizerCommand("/cuda/bin/compute-sanitizer", SanitizerTool::kMemcheck, {}, "/tmp/log");
  EXPECT_EQ(memcheck[0], "/cuda/bin/compute-sanitizer");
  EXPECT_THAT(memcheck, testing::IsSupersetOf({"memcheck", "/tmp/log", "--padding", "application-only"}));
  EXPECT_THAT(SanitizerCommand("c", SanitizerTool::kInitcheck, {}, "l"), testing::Not(testing::Contains("--initcheck-address-space")));
  const SanitizerFeatures features = ReadSanitizerFeatures("  --initcheck-address-space arg (=global)  Select the address space\n");
  EXPECT_THAT(SanitizerCommand("c", SanitizerTool::kInitcheck, features, "l"), testing::Contains("--initcheck-address-space"));
}

}  // namespace
}  // namespace hone
