// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/device/sim/image/work_count.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hone::sim {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr char kHeaders[] = "/cache/include";  // the folder of the simulator's headers

// Returns the amounts that the program's straight-line pieces add to one counter, in order.
std::vector<int> AmountsAdded(const std::string& assembly, int kind) {
  const std::string counted = CountWork(assembly, kHeaders),
                    before = "%fs:" + std::to_string(8 * kind) + "(%rax), %rcx\n\tleaq\t";
  std::vector<int> added;
  for (size_t at = 0; (at = counted.find(before, at)) != std::string::npos; at += before.size()) {
    added.push_back(std::stoi(counted.substr(at + before.size())));
  }
  return added;
}

constexpr char kLoop[] =
    "_Z1kPf:\n.LFB1:\n\tmovl\t$4, %eax\n\tvmovss\t(%rdi), %xmm0\n.L2:\n\t.loc 1 2 3\n\tvmulss\t%xmm0, %xmm0, %xmm1\n"
    "\tvfmadd231ss\t4(%rdi), %xmm1, %xmm0\n\tvdivss\t%xmm1, %xmm0, %xmm0\n\tsubl\t$1, %eax\n\tjne\t.L2\n"
    "\tcall\t*expf@GOTPCREL(%rip)\n\tvxorps\t%xmm1, %xmm1, %xmm1\n\tret\n";

TEST(WorkCount, AddsWhatAStraightPieceOfCodeHolds) {
  EXPECT_EQ(AmountsAdded(kLoop, kWorkOperations), (std::vector<int>{12, 4}));
  EXPECT_EQ(AmountsAdded(kLoop, kWorkSpecial), (std::vector<int>{1, 1}));
  EXPECT_TRUE(AmountsAdded(kLoop, kWorkLocalReads).empty());
  // The program itself stays complete, and parts without countable work are unchanged.
  const std::string counted = CountWork(kLoop, kHeaders);
  for (size_t at = 0; at < std::string(kLoop).size();) {
    const size_t end = std::string(kLoop).find('\n', at);
    EXPECT_THAT(counted, HasSubstr(std::string(kLoop).substr(at, end - at + 1)));
    at = end + 1;
  }
  const std::string moves = "f:\n\tmovq\t%rdi, %rax\n\tvcomiss\t%xmm0, %xmm1\n\tret\n";
  EXPECT_EQ(CountWork(moves, kHeaders), moves);
}

TEST(WorkCount, HalvesCountHalfAndTheSimulatorsFunctionsNothing) {
  EXPECT_EQ(AmountsAdded("h:\n\tvaddss\t%xmm0, %xmm1, %xmm0\n\tvcvtps2ph\t$4, %xmm0, %xmm0\n\tret\n", kWorkOperations),
            std::vector<int>{2});
  EXPECT_EQ(AmountsAdded("b:\n\tvaddss\t%xmm0, %xmm1, %xmm0\n\tleal\t32767(%rax,%rdx), %eax\n\tret\n", kWorkOperations),
            std::vector<int>{2});
  EXPECT_EQ(AmountsAdded("p:\n\tvmulps\t%ymm0, %ymm1, %ymm0\n\tret\n", kWorkOperations), std::vector<int>{32});
  EXPECT_TRUE(AmountsAdded("\t.file 1 \"/cache/include/detail/mma.h\"\n_ZN8hone_sim14MatrixMultiplyEv:\n\t.loc 1 2 3\n"
                           "\tvaddss\t%xmm0, %xmm1, %xmm0\n\tret\n",
                           kWorkOperations)
                  .empty());
}

TEST(WorkCount, NoNameThatACandidateGivesMakesItsTextFree) {
  const std::string files = "\t.file 1 \"detail/fast_math.h\"\n\t.file 2 \"/cache/include/detail/mma.h\"\n\t.file 3 \"/cache/include2/detail/fast_math.h\"\n";
  const std::string sum = "\tvaddss\t%xmm0, %xmm1, %xmm0\n", wide = "\tvaddsd\t%xmm0, %xmm1, %xmm0\n", end = "\tret\n";
  // A file that the candidate calls like one of the simulator's headers, and one of another folder.
  EXPECT_EQ(AmountsAdded(files + "d:\n\t.loc 1 2 3\n" + wide + end, kWorkDoubles), std::vector<int>{1});
  EXPECT_EQ(AmountsAdded(files + "d:\n\t.loc 3 2 3\n" + wide + end, kWorkDoubles), std::vector<int>{1});
  EXPECT_EQ(AmountsAdded(files + "d:\n\t.loc 1 2 3\n\timull\t$77, %eax, %eax\n\tshrl\t$13, %ecx\n\txorl\t%ecx, %eax\n" + end, kWorkIntegers),
            std::vector<int>{3});
  // Functions with names of the simulator's own that the candidate's text defines, and one without a line.
  for (const std::string name : {"_ZN6nvcuda4wmma6detail8MultiplyILi8EEvv", "_ZN8hone_sim5MyOwnEv"}) {
    EXPECT_EQ(AmountsAdded(files + name + ":\n\t.loc 1 2 3\n" + sum + end, kWorkOperations), std::vector<int>{4}) << name;
    EXPECT_EQ(AmountsAdded(files + name + ":\n" + sum + end, kWorkOperations), std::vector<int>{4}) << name;
    EXPECT_TRUE(HasVariableFrame(files + name + ":\n\t.loc 1 2 3\n\tsubq\t%rax, %rsp\n" + end, kHeaders)) << name;
    // The simulator's own function, with the candidate's text inlined into it in the middle.
    const std::string own = files + name + ":\n\t.loc 2 2 3\n";
    EXPECT_TRUE(AmountsAdded(own + sum + end, kWorkOperations).empty()) << name;
    EXPECT_EQ(AmountsAdded(own + sum + "\t.loc 1 5 1\n" + sum + sum + "\t.loc 2 3 1\n" + sum + end, kWorkOperations), std::vector<int>{8}) << name;
    EXPECT_FALSE(HasVariableFrame(own + "\tsubq\t%rax, %rsp\n" + end, kHeaders)) << name;
  }
}

TEST(WorkCount, AFunctionCalledThroughItsAddressCounts) {
  const std::string counted = CountWork(
      "k:\n\tmovq\tfmaf@GOTPCREL(%rip), %rbx\n\tcall\t*%rbx\n\tmovq\t__tsan_read4@GOTPCREL(%rip), %rax\n\tcall\t*ceilf@GOTPCREL(%rip)\n\tret\n"
      "\t.section\t.data.rel,\"aw\"\ntable:\n\t.quad\texp\n\t.quad\tk\n",
      kHeaders);
  EXPECT_THAT(counted, HasSubstr("\tmovq\thone.counted.fmaf@GOTPCREL(%rip), %rbx\n"));
  EXPECT_THAT(counted, HasSubstr("\t.quad\thone.counted.exp\n\t.quad\tk\n"));
  EXPECT_THAT(counted, HasSubstr("__tsan_read4@GOTPCREL"));
  EXPECT_THAT(counted, testing::ContainsRegex("\nhone.counted.fmaf:\n\tpushq(.|\n)*leaq\t4\\(%rcx\\)(.|\n)*popq\t%rax\n\tjmp\t\\*fmaf@GOTPCREL"));
  EXPECT_THAT(counted, testing::ContainsRegex("\nhone.counted.exp:\n\tpushq(.|\n)*leaq\t10\\(%rcx\\)"));
  EXPECT_THAT(counted, Not(HasSubstr("hone.counted.ceilf")));
}

TEST(WorkCount, AStatedRoundingCountsOneOperation) {
  const std::string product = "\tvmulsd\t%xmm0, %xmm1, %xmm0\n\tvcvtsd2ss\t%xmm0, %xmm0, %xmm0\n\tret\n";
  const std::string header = "\t.file 1 \"/cache/include/detail/float_by_double.h\"\nd:\n\t.loc 1 2 3\n";
  EXPECT_EQ(AmountsAdded(header + product, kWorkOperations), std::vector<int>{4});
  EXPECT_TRUE(AmountsAdded(header + product, kWorkDoubles).empty());
  EXPECT_TRUE(AmountsAdded("d:\n" + product, kWorkOperations).empty());  // the candidate's own doubles count as such
}

TEST(WorkCount, DoublesCountApartUnlessTheSimulatorNeedsThem) {
  const std::string sum = "\tvaddsd\t%xmm0, %xmm1, %xmm0\n\tret\n";
  EXPECT_TRUE(AmountsAdded("d:\n" + sum, kWorkOperations).empty());
  EXPECT_EQ(AmountsAdded("d:\n" + sum, kWorkDoubles), std::vector<int>{1});
  EXPECT_EQ(AmountsAdded("d:\n\tvdivsd\t%xmm0, %xmm1, %xmm0\n\tret\n", kWorkDoubles), std::vector<int>{8});
  EXPECT_EQ(AmountsAdded("d:\n\tcall\t*exp@GOTPCREL(%rip)\n\tret\n", kWorkDoubles), std::vector<int>{10});
  const std::string files = "\t.file 1 \"candidate.cc\"\n\t.file 2 \"/cache/include/detail/fast_math.h\"\n";
  EXPECT_EQ(AmountsAdded(files + "d:\n\t.loc 1 2 3\n" + sum, kWorkDoubles), std::vector<int>{1});
  EXPECT_TRUE(AmountsAdded(files + "d:\n\t.loc 2 2 3\n" + sum, kWorkDoubles).empty());
}

TEST(WorkCount, IntegersCountInTheCandidatesTextWhereTheyAreNoAddresses) {
  const std::string files = "\t.file 1 \"candidate.cc\"\n\t.file 2 \"/cache/include/detail/bits.h\"\n";
  const std::string hash = "\timull\t$77, %eax, %eax\n\tmovl\t%eax, %ecx\n\tshrl\t$13, %ecx\n\txorl\t%ecx, %eax\n\tret\n";
  EXPECT_EQ(AmountsAdded(files + "h:\n\t.loc 1 1 1\n" + hash, kWorkIntegers), std::vector<int>{3});
  EXPECT_TRUE(AmountsAdded(files + "h:\n\t.loc 2 1 1\n" + hash, kWorkIntegers).empty());
  EXPECT_EQ(AmountsAdded(files + "h:\n\t.loc 1 1 1\n\tcltd\n\tidivl\t%ecx\n\tret\n", kWorkIntegers),
            std::vector<int>{16});
  // Steps of a loop, addresses, and a register that is zeroed.
  EXPECT_TRUE(
      AmountsAdded(files +
                       "h:\n\t.loc 1 1 1\n\taddl\t$1, %eax\n\tsalq\t$2, %rdi\n\taddq\t%rsi, %rdi\n\txorl\t%eax, %eax\n"
                       "\tleaq\t(%rax,%rdi,4), %rsi\n\tsubl\t$8, %edx\n\tret\n",
                   kWorkIntegers)
          .empty());
}

TEST(WorkCount, LeavesOutTheProductOfFragments) {
  const std::string body = "\tvaddss\t%xmm0, %xmm1, %xmm0\n\tret\n";
  EXPECT_TRUE(
      AmountsAdded("\t.file 1 \"/cache/include/detail/mma.h\"\n_ZN6nvcuda4wmma6detail8MultiplyILi16ELi16ELi16EEvPKPKv:\n\t.loc 1 2 3\n" + body, kWorkOperations).empty());
  EXPECT_EQ(AmountsAdded("_ZN6nvcuda4wmma4mine4LoopEv:\n" + body, kWorkOperations), std::vector<int>{4});
}

TEST(WorkCount, FollowsLocalArraysThatNoRegistersHold) {
  const std::string body =
      "\tmovq\t%rdi, %r12\n\tcall\t*__tsan_read4@GOTPCREL(%rip)\n\tvmovss\t(%r12), %xmm0\n\tvmovss\t%xmm0, "
      "16(%rsp,%rax,4)\n"
      "\tvmovups\t(%rbx), %xmm1\n\tvmovss\t%xmm1, 8(%rsp)\n\tmovl\tkTable(%rip), %eax\n\tret\n";
  const std::string large = "k:\n\tsubq\t$16384, %rsp\n" + body, small = "k:\n\tsubq\t$1000, %rsp\n" + body;
  EXPECT_EQ(AmountsAdded(large, kWorkLocalReads), std::vector<int>{16});  // 20 read, 4 of them announced by a hook
  EXPECT_EQ(AmountsAdded(large, kWorkLocalWrites),
            std::vector<int>{4});  // a fixed place of the frame may be a register
  // There is a branch between the hook and the load, and inline assembly of the simulator.
  EXPECT_TRUE(
      AmountsAdded("k:\n\tsubq\t$16384, %rsp\n\tcall\t*__tsan_read4@GOTPCREL(%rip)\n\tjne\t.L2\n\tvmovss\t(%r12), "
                   "%xmm0\n#APP\n\tmovl\t12(%rax), %eax\n#NO_APP\n.L2:\n\tret\n",
                   kWorkLocalReads)
          .empty());
  EXPECT_TRUE(AmountsAdded(small, kWorkLocalReads).empty());
  EXPECT_TRUE(AmountsAdded(small, kWorkLocalWrites).empty());
}

}  // namespace
}  // namespace hone::sim
