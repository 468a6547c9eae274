// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests the rewriter's text (statements found, refusals, line numbers) and arithmetic: rewritten PTX is compiled, and
// its results are compared with plain C++.
#include "tuner/device/sim/cuda/ptx_rewrite.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>

#include "tuner/device/sim/cuda/asm_statement.h"
#include "tuner/device/sim/cuda/shared_declarations.h"
#include "tuner/device/sim/cuda/test_host_runtime.h"
#include "tuner/device/sim/cuda/unroll_pragmas.h"

namespace hone {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string RefusalOf(const std::string& source) {
  const Result<std::string> rewritten = RewriteInlinePtx(source);
  return rewritten.ok() ? "accepted: " + *rewritten : rewritten.status().message();
}

TEST(AsmStatements, TemplateOperandsAndPlace) {
  const auto statements = FindAsmStatements(
      "int x;\n// asm(\"no\")\nconst char* s = \"asm(1)\";\n"
      "  asm volatile(\"add.s32 %0, %1, %[k];\"\n  \"\\n\\t// c\"\n  : \"=r\"(a[f(1, 2)])\n"
      "  : \"r\"(b /* , */ + 1), [k] \"n\"(3) : \"memory\", \"cc\");\n");
  ASSERT_TRUE(statements.ok()) << statements.status().message();
  ASSERT_EQ(statements->size(), 1u);
  const AsmStatement& s = statements->front();
  EXPECT_EQ(s.line, 4);
  EXPECT_EQ(s.newlines, 3);
  ASSERT_EQ(s.operands.size(), 3u);
  EXPECT_EQ(s.operands[0].expression, "a[f(1, 2)]");
  EXPECT_TRUE(s.operands[0].output);
  EXPECT_EQ(s.operands[1].expression, "b   + 1");
  EXPECT_EQ(s.operands[2].name, "k");
  EXPECT_EQ(s.text,
            "add.s32 \x01"
            "0\x03, \x01"
            "1\x03, \x01"
            "2\x03;\n\t// c");
}

TEST(AsmStatements, NoneInCommentsLiteralsAndNames) {
  const auto statements = FindAsmStatements(
      "/* asm(\"x\"); */ int asmx, my_asm; char c = '\"'; auto r = R\"(asm(\"y\");)\"; int n = 1'000;\n");
  ASSERT_TRUE(statements.ok());
  EXPECT_TRUE(statements->empty());
}

// Counts the statements found in a source with one at each `@`.
size_t CountStatements(std::string source) {
  for (size_t at = source.find('@'); at != std::string::npos; at = source.find('@', at)) {
    source.replace(at, 1, "asm(\"wgmma.x;\");");
  }
  const auto statements = FindAsmStatements(source);
  return statements.ok() ? statements->size() : 99;
}

TEST(AsmStatements, NoneWhereThePreprocessorLeavesThemOut) {
  EXPECT_EQ(CountStatements("#ifndef HONE_SIM\n@\n#endif\n"), 0u);
  EXPECT_EQ(CountStatements("#ifndef HONE_SIM  // not there\n@\n#else\n@\n#endif\n@"), 2u);
  EXPECT_EQ(CountStatements("#ifdef HONE_SIM\n@ @\n#else\n@\n#endif\n"), 2u);
  EXPECT_EQ(CountStatements("#if !defined(HONE_SIM)\n@\n#elif X\n@\n#endif\n"), 1u);
  EXPECT_EQ(CountStatements("#if defined HONE_SIM\n@\n#elif X\n@\n#else\n@\n#endif\n"), 1u);
  EXPECT_EQ(CountStatements("#if defined(__CUDA_ARCH__) && !defined(HONE_SIM)\n@\n#else\n@\n#endif\n"), 1u);
  EXPECT_EQ(CountStatements("#if 0\n@\n# if X\n@\n# endif\n@\n#elif 1\n@\n#endif\n@"), 2u);
  EXPECT_EQ(CountStatements("#ifdef HONE_SIM\n#else\n#ifdef X\n#else\n@\n#endif\n@\n#endif\n"), 0u);
}

TEST(AsmStatements, AllWhereItIsNotKnownWhatThePreprocessorDoes) {
  EXPECT_EQ(CountStatements("#if X\n@\n#else\n@\n#endif\n"), 2u);
  EXPECT_EQ(CountStatements("#if X || !defined(HONE_SIM)\n@\n#endif\n"), 1u);
  EXPECT_EQ(CountStatements("#if !defined(HONE_SIM) || X\n@\n#endif\n"), 1u);
  EXPECT_EQ(CountStatements("#if X\n@\n#elif defined(HONE_SIM)\n@\n#else\n@\n#endif\n"), 2u);  // the last branch is
                                                                                               // certainly skipped
  EXPECT_EQ(CountStatements("#if __CUDA_ARCH__ >= 900\n@\n#endif\n#endif\n#else\n@"), 2u);
  EXPECT_EQ(CountStatements("// #if 0\n@\n/*\n#if 0\n*/\n@\n"), 2u);
}

TEST(PtxRewrite, WhatIsLeftOutStaysAsItIsAndOnItsLine) {
  const std::string source =
      "int F() {\n#ifdef HONE_SIM\n  return __LINE__;\n#else\n  asm(\"barrier.cluster.arrive.aligned;\");\n#endif\n}\n";
  EXPECT_EQ(*RewriteInlinePtx(source), source);
  const auto code = testing::DeviceCode::Compile(source + "extern \"C\" int line() { return F(); }\n");
  ASSERT_TRUE(code.ok()) << code.status().message();
  EXPECT_EQ((*code)->Function<int()>("line")(), 3);
}

TEST(PtxRewrite, LeavesOtherTextAlone) {
  const std::string source = "// asm volatile(\"trap;\");\n__global__ void k(float* p) { p[0] = 1; }\n";
  EXPECT_EQ(*RewriteInlinePtx(source), source);
}

TEST(PtxRewrite, EmptyAssemblyStaysACompilerBarrier) {
  EXPECT_THAT(*RewriteInlinePtx("void f() { asm volatile(\"\" ::: \"memory\"); }"),
              HasSubstr("__atomic_signal_fence(__ATOMIC_SEQ_CST)"));
}

TEST(PtxRewrite, KeepsLinesInCodeAndInMacros) {
  const std::string source =
      "#define COMMIT() \\\n  asm volatile( \\\n      \"cp.async.commit_group;\\n\" \\\n      ::)\n"
      "void f() {\n  COMMIT();\n  asm volatile(\n    \"membar.gl;\"\n  ); int here = __LINE__;\n}\n";
  const Result<std::string> rewritten = RewriteInlinePtx(source);
  ASSERT_TRUE(rewritten.ok()) << rewritten.status().message();
  EXPECT_EQ(std::count(rewritten->begin(), rewritten->end(), '\n'), std::count(source.begin(), source.end(), '\n'));
  EXPECT_THAT(*rewritten, Not(HasSubstr("asm")));
  const auto code = testing::DeviceCode::Compile(source + "extern \"C\" int line() { return __LINE__; }\n");
  ASSERT_TRUE(code.ok()) << code.status().message();
  EXPECT_EQ((*code)->Function<int()>("line")(), 11);
}

TEST(PtxRewrite, RefusesWhatItDoesNotEmulateByName) {
  EXPECT_EQ(RefusalOf("void f() {\n  asm volatile(\"barrier.cluster.arrive.aligned;\");\n}"),
            "line 2: inline PTX 'barrier.cluster.arrive.aligned' is not emulated by the simulated GPU");
  EXPECT_THAT(
      RefusalOf("asm volatile(\"cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
                "[%0], [%1, {%2, %3}], [%4];\" :: \"r\"(a), \"l\"(b), \"r\"(c), \"r\"(d), \"r\"(e));"),
      HasSubstr("is not emulated"));
  EXPECT_THAT(RefusalOf("asm(\"mbarrier.init.shared.b64 [%0], 1;\" :: \"r\"(a));"),
              HasSubstr("'mbarrier.init.shared.b64' is not emulated"));
  EXPECT_THAT(RefusalOf("asm(\"fence.proxy.alias;\");"), HasSubstr("is not emulated"));
  EXPECT_THAT(
      RefusalOf(
          "asm(\"mma.sync.aligned.m16n8k16.row.col.f16.bf16.bf16.f16 {%0,%1}, {%2,%3,%4,%5}, {%6,%7}, {%8,%9};\" "
          ": \"=r\"(a), \"=r\"(a) : \"r\"(a), \"r\"(a), \"r\"(a), \"r\"(a), \"r\"(a), \"r\"(a), \"r\"(a), \"r\"(a));"),
      HasSubstr("is not emulated"));
  EXPECT_THAT(RefusalOf("asm(\"{ LOOP: bra LOOP; }\");"), HasSubstr("labels and branches"));
  EXPECT_THAT(RefusalOf("asm(\"ld.global.v8.b32 {%0}, [%1];\" : \"=r\"(a) : \"l\"(p));"), HasSubstr("is not emulated"));
  EXPECT_THAT(RefusalOf("asm(\".reg .b128 q;\");"), HasSubstr("is not emulated"));
  EXPECT_THAT(RefusalOf("asm goto(\"trap;\" :::: out);"), HasSubstr("asm goto"));
}

TEST(PtxRewrite, CountsLinesAsDirectivesSay) {
  EXPECT_THAT(RefusalOf("int generated;\n#line 7 \"kernel.cu\"\nint x;\nasm(\"wgmma.x;\");\n"), HasSubstr("line 8:"));
}

TEST(PtxRewrite, SaysWhatIsMalformed) {
  EXPECT_THAT(RefusalOf("asm(\"add.f32 %0, %1;\" : \"=f\"(a) : \"f\"(b));"), HasSubstr("2 operands where 3 are due"));
  EXPECT_THAT(RefusalOf("asm(\"mov.u32 %0, %5;\" : \"=r\"(a));"), HasSubstr("has only 1"));
  EXPECT_THAT(RefusalOf("asm(\"membar.gl\");"), HasSubstr("no semicolon"));
  EXPECT_THAT(RefusalOf("asm(\"{ membar.gl;\");"), HasSubstr("leaves a brace open"));
  EXPECT_THAT(RefusalOf("asm(\"mov.u32 %0, nowhere;\" : \"=r\"(a));"),
              HasSubstr("operand 'nowhere' that is not understood"));
  EXPECT_THAT(RefusalOf("asm(\"ld.global.v4.f32 {%0, %1}, [%2];\" : \"=f\"(a), \"=f\"(b) : \"l\"(p));"),
              HasSubstr("vector of the wrong length"));
  EXPECT_THAT(RefusalOf("asm(TEMPLATE : \"=f\"(a));"), HasSubstr("'TEMPLATE', which is not a string literal"));
  EXPECT_THAT(RefusalOf("asm(\"mov.u32 %0, 1;\" : \"=q\"(a));"), HasSubstr("\"=q\""));
}

TEST(UnrollPragmas, OnlyBeforeLoopsAndCapped) {
  EXPECT_EQ(RewriteUnrollPragmas("  #pragma unroll\n  for (;;) {}\n"), "#pragma GCC unroll 8\n  for (;;) {}\n");
  EXPECT_EQ(RewriteUnrollPragmas("#pragma unroll 4\n// c\nwhile (x) {}\n"),
            "#pragma GCC unroll 4\n// c\nwhile (x) {}\n");
  EXPECT_EQ(RewriteUnrollPragmas("#pragma unroll (64)\ndo {} while (x);\n"),
            "#pragma GCC unroll 8\ndo {} while (x);\n");
  for (const char* kept :
       {"#pragma unroll N\nfor (;;) {}\n", "#pragma unroll\nx = 1;\n", "/*\n#pragma unroll\nfor (;;) */\n",
        "#pragma unrolled\nfor (;;) {}\n", "#pragma once\nfor (;;) {}\n"}) {
    EXPECT_EQ(RewriteUnrollPragmas(kept), kept);
  }
}

TEST(SharedDeclarations, EmptyInitializersWhereNoneIs) {
  const std::pair<const char*, const char*> cases[] = {
      {"__shared__ half a[4][8];", "__shared__ half a[4][8]{};"},
      {"  __shared__ __align__(16) float x[N < 4 ? 1 : 2], y;\n",
       "  __shared__ __align__(16) float x[N < 4 ? 1 : 2]{}, y{};\n"},
      {"__shared__ Tile<16, 32> t; int u;", "__shared__ Tile<16, 32> t{}; int u;"},
      {"__shared__ union { half h[4]; float f; } u;", "__shared__ union { half h[4]; float f; } u{};"},
      {"__shared__ typename R::Storage s // c\n  ;", "__shared__ typename R::Storage s{} // c\n  ;"},
      {"static __shared__ int s[1], *p[2];", "static __shared__ int s[1]{}, *p[2]{};"},
      {"#define BUF(n) \\\n  __shared__ half n[4]; \\\n  n[0] = 1\n",
       "#define BUF(n) \\\n  __shared__ half n[4]{}; \\\n  n[0] = 1\n"},
  };
  for (const auto& [before, after] : cases) EXPECT_EQ(InitializeSharedVariables(before), after);
  for (const char* kept :
       {"extern __shared__ float s[];", "extern __shared__ __align__(16) char s[];", "__shared__ extern float s[];",
        "#define SHARED __shared__\nint x;", "// __shared__ int x;\n", "\"__shared__ int x;\"", "int my__shared__x;",
        "__shared__ int x = 3;"}) {
    EXPECT_EQ(InitializeSharedVariables(kept), kept);
  }
}

// This translation unit has every family and is compiled once.
const char kDeviceCode[] = R"CUDA(
#define TANH "tanh.approx.f32"
#define WAIT(n) asm volatile("cp.async.wait_group " #n ";\n")
extern "C" {
void add(float* r, float a, float b) { asm("add.rz.f32 %0, %1, %2;" : "=f"(*r) : "f"(a), "f"(b)); }
void fma_in_place(float* r, float a, float b) { asm volatile("fma.rn.f32 %0, %1, %2, %0;" : "+f"(*r) : "f"(a), "f"(b)); }
unsigned pack(float hi, float lo) { unsigned r; asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(hi), "f"(lo)); return r; }
unsigned pack_bf16(float hi, float lo) { unsigned r; asm("cvt.rn.bf16x2.f32 %0, %1, %2;\n" : "=r"(r) : "f"(hi), "f"(lo)); return r; }
unsigned short pack_e4m3(float hi, float lo) { unsigned short r; asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(r) : "f"(hi), "f"(lo)); return r; }
unsigned short pack_e5m2(float hi, float lo) { unsigned short r; asm("cvt.rn.satfinite.e5m2x2.f32 %0, %1, %2;" : "=h"(r) : "f"(hi), "f"(lo)); return r; }
unsigned short halves_to_e4m3(unsigned x) { unsigned short r; asm("cvt.rn.satfinite.e4m3x2.f16x2 %0, %1;" : "=h"(r) : "r"(x)); return r; }
unsigned e4m3_to_halves(unsigned short x) { unsigned r; asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(r) : "h"(x)); return r; }
unsigned tf32(float x) { unsigned r; asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(r) : "f"(x)); return r; }
float half_bits(unsigned short h) { float f; asm("cvt.f32.f16 %0, %1;" : "=f"(f) : "h"(h)); return f; }
int to_int(float x) { int r; asm("cvt.rni.s32.f32 %0, %1;" : "=r"(r) : "f"(x)); return r; }
int saturate(int x) { int r; asm("{ .reg .s16 t; cvt.sat.s8.s32 t, %1; cvt.s32.s8 %0, t; }" : "=r"(r) : "r"(x)); return r; }
float predicate(float x, float y, int flag) {
  float r = x;
  asm volatile("{\n\t.reg .pred p, q;\n\tsetp.ne.b32 p, %2, 0;\n\tsetp.lt.and.f32 q, %0, %1, p;\n\t@q mov.f32 %0, %1;\n\t@!p mov.f32 %0, 0fBF800000;\n}"
               : "+f"(r) : "f"(y), "r"(flag));
  return r;
}
unsigned long long unite(unsigned lo, unsigned hi) { unsigned long long r; asm("mov.b64 %0, {%1, %2};" : "=l"(r) : "r"(lo), "r"(hi)); return r; }
unsigned upper(unsigned long long v) { unsigned lo, hi; asm("mov.b64 {%0, %1}, %2;" : "=r"(lo), "=r"(hi) : "l"(v)); return hi - 0 * lo; }
unsigned upper_sink(unsigned long long v) { unsigned hi; asm("mov.b64 {_, %0}, %1;" : "=r"(hi) : "l"(v)); return hi; }
int registers(int x) { int r; asm("{ .reg .s32 t<3>; mul.lo.s32 t0, %1, %1; add.s32 t1, t0, -5; { .reg .s32 t0; mov.s32 t0, 100; add.s32 t1, t1, t0; } add.s32 %0, t1, t0; }" : "=r"(r) : "r"(x)); return r; }
int bits(unsigned a, unsigned b, unsigned c, int which) {
  unsigned r = 0;
  switch (which) {
    case 0: asm("lop3.b32 %0, %1, %2, %3, 0xE8;" : "=r"(r) : "r"(a), "r"(b), "r"(c)); break;
    case 1: asm("prmt.b32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c)); break;
    case 2: asm("bfe.s32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c)); break;
    case 3: asm("bfi.b32 %0, %1, %2, 8, 4;" : "=r"(r) : "r"(a), "r"(b)); break;
    case 4: asm("shf.l.wrap.b32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c)); break;
    case 5: asm("shr.s32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b)); break;
    case 6: asm("shl.b32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b)); break;
    case 7: asm("popc.b32 %0, %1;" : "=r"(r) : "r"(a)); break;
    case 8: asm("mul.hi.u32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b)); break;
    case 9: asm("mad.lo.s32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c)); break;
    case 10: asm("dp4a.s32.s32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c)); break;
    case 11: asm("{.reg .pred p; setp.hs.u32 p, %1, %2; selp.b32 %0, %1, %2, p;}" : "=r"(r) : "r"(a), "r"(b)); break;
    case 12: asm("clz.b32 %0, %1;" : "=r"(r) : "r"(a)); break;
    case 13: asm("min.s32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b)); break;
  }
  return static_cast<int>(r);
}
unsigned fma_pair(unsigned a, unsigned b, unsigned c) { unsigned r; asm("fma.rn.f16x2 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c)); return r; }
float approx(float x, int which) {
  float r = 0;
  if (which == 0) asm(TANH " %0, %1;" : "=f"(r) : "f"(x));
  else if (which == 1) asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x));
  else if (which == 2) asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x));
  else asm("sqrt.approx.f32 %0, %1;" : "=f"(r) : "f"(x));
  return r;
}
void load4(const float* p, float* out) {
  asm volatile("ld.global.nc.L1::no_allocate.L2::128B.v4.f32 {%0, %1, %2, %3}, [%4+16];" : "=f"(out[0]), "=f"(out[1]), "=f"(out[2]), "=f"(out[3]) : "l"(p));
}
void store2(float* p, float a, float b) { asm volatile("st.global.cs.v2.f32 [%0 + 8], {%1, %2};" :: "l"(p), "f"(a), "f"(b) : "memory"); }
int load_signed(const signed char* p) { int r; asm("ld.s8 %0, [%1];" : "=r"(r) : "l"(p)); return r; }
unsigned load_acquire(const unsigned* p) { unsigned r; asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(r) : "l"(p) : "memory"); return r; }
void store_release(unsigned* p, unsigned v) { asm volatile("st.release.gpu.b32 [%0], %1;" :: "l"(p), "r"(v) : "memory"); }
void shared_round_trip(float x, float* r) {
  unsigned address = 64;
  asm volatile("st.shared.f32 [%0], %1;" :: "r"(address), "f"(x));
  asm volatile("{ .reg .u64 g; .reg .b32 a; cvta.shared.u64 g, 64; ld.f32 %0, [g]; }" : "=f"(*r));
}
unsigned atomic_add(unsigned* p, unsigned v) { unsigned old; asm volatile("atom.add.release.gpu.global.u32 %0,[%1],%2;" : "=r"(old) : "l"(p), "r"(v) : "memory"); return old; }
void reduce_add(float* p, float v) { asm volatile("red.relaxed.gpu.global.add.f32 [%0], %1;" :: "l"(p), "f"(v)); }
void reduce_vector(float* p, float a, float b) { asm volatile("red.global.add.v2.f32 [%0], {%1, %2};" :: "l"(p), "f"(a), "f"(b)); }
void reduce_halves(unsigned* p, unsigned v) { asm volatile("red.global.add.noftz.f16x2 [%0], %1;" :: "l"(p), "r"(v)); }
unsigned compare_and_swap(unsigned* p, unsigned e, unsigned d) { unsigned old; asm volatile("atom.global.cas.b32 %0, [%1], %2, %3;" : "=r"(old) : "l"(p), "r"(e), "r"(d)); return old; }
void copy_async(unsigned shared, const void* global, int valid) {
  asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], %2, %3;\n" :: "r"(shared), "l"(global), "n"(16), "r"(valid));
  asm volatile("cp.async.commit_group;");
  WAIT(0);
}
void copy_if(unsigned shared, const void* global, bool yes) {
  asm volatile("{ .reg .pred p; setp.ne.b32 p, %0, 0; @p cp.async.ca.shared.global [%1], [%2], 4; }" :: "r"((int)yes), "r"(shared), "l"(global));
}
int operand_order(int* counter) {
  int r;
  asm("sub.s32 %0, %1, %2;" : "=r"(r) : "r"((*counter)++ * 10), "r"((*counter)++));
  return r;
}
unsigned undefined_unless(int flag) { unsigned r; asm("{.reg .pred p; setp.ne.b32 p, %1, 0; @p mov.u32 %0, 7;}" : "=r"(r) : "r"(flag)); return r; }
const unsigned hone_sim_displacement = 0;  // the compiler of candidates makes one for every image
}
)CUDA";

class PtxArithmetic : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    auto compiled = testing::DeviceCode::Compile(kDeviceCode);
    ASSERT_TRUE(compiled.ok()) << compiled.status().message();
    code_ = compiled->release();
  }
  static void TearDownTestSuite() { delete code_; }
  template <typename F>
  F* Get(const char* name) {
    return code_->Function<F>(name);
  }
  int Bits(unsigned a, unsigned b, unsigned c, int which) {
    return Get<int(unsigned, unsigned, unsigned, int)>("bits")(a, b, c, which);
  }
  static testing::DeviceCode* code_;
};
testing::DeviceCode* PtxArithmetic::code_ = nullptr;

TEST_F(PtxArithmetic, PairsOfEightBitFloatsSaturate) {
  EXPECT_EQ(Get<unsigned short(float, float)>("pack_e4m3")(-2.0f, 3.3f), 0xc045);
  EXPECT_EQ(Get<unsigned short(float, float)>("pack_e4m3")(-1e9f, 1e-9f), 0xfe00);
  EXPECT_EQ(Get<unsigned short(float, float)>("pack_e5m2")(1e9f, 5.0f), 0x7b45);
  EXPECT_EQ(Get<unsigned short(unsigned)>("halves_to_e4m3")(0xc0004280u), 0xc045);
  EXPECT_EQ(Get<unsigned(unsigned short)>("e4m3_to_halves")(0xc045), 0xc0004280u);
}

TEST_F(PtxArithmetic, FloatsRoundAsWritten) {
  float r = 0;
  Get<void(float*, float, float)>("add")(&r, 1.0f, std::ldexp(1.0f, -30));
  EXPECT_EQ(r, 1.0f);
  Get<void(float*, float, float)>("add")(&r, 1.0f, -std::ldexp(1.0f, -30));
  EXPECT_EQ(r, std::nextafter(1.0f, 0.0f));
  r = 1.0f;
  Get<void(float*, float, float)>("fma_in_place")(&r, 3.0f, 4.0f);
  EXPECT_EQ(r, 13.0f);
  EXPECT_EQ((Get<unsigned(unsigned, unsigned, unsigned)>("fma_pair")(0x40003c00u, 0x42004000u, 0x3c003c00u)),
            0x47004200u);  // {1*2+1, 2*3+1}
}

TEST_F(PtxArithmetic, ConversionsPackTheFirstSourceHigh) {
  EXPECT_EQ((Get<unsigned(float, float)>("pack")(2.0f, 1.0f)), 0x40003c00u);
  EXPECT_EQ((Get<unsigned(float, float)>("pack_bf16")(2.0f, 1.0f)), 0x40003f80u);
  EXPECT_EQ(Get<unsigned(float)>("tf32")(1.0f + std::ldexp(1.0f, -11)), 0x3f802000u);  // a tie goes away from zero
  EXPECT_EQ(Get<float(unsigned short)>("half_bits")(0xc000), -2.0f);
  EXPECT_EQ(Get<int(float)>("to_int")(2.5f), 2);
  EXPECT_EQ(Get<int(float)>("to_int")(3e9f), 2147483647);
  EXPECT_EQ(Get<int(int)>("saturate")(1000), 127);
  EXPECT_EQ(Get<int(int)>("saturate")(-1000), -128);
}

TEST_F(PtxArithmetic, PredicatesGuard) {
  auto* predicate = Get<float(float, float, int)>("predicate");
  EXPECT_EQ(predicate(1.0f, 2.0f, 1), 2.0f);
  EXPECT_EQ(predicate(3.0f, 2.0f, 1), 3.0f);
  EXPECT_EQ(predicate(NAN, 2.0f, 0), -1.0f);
  EXPECT_EQ(Get<unsigned(int)>("undefined_unless")(1), 7u);
  EXPECT_NE(Get<unsigned(int)>("undefined_unless")(0), 0u);  // an unwritten register must not be zero
}

TEST_F(PtxArithmetic, RegistersPackUnpackAndScope) {
  EXPECT_EQ((Get<unsigned long long(unsigned, unsigned)>("unite")(1, 2)), 0x200000001ull);
  EXPECT_EQ(Get<unsigned(unsigned long long)>("upper")(0x500000003ull), 5u);
  EXPECT_EQ(Get<unsigned(unsigned long long)>("upper_sink")(0x500000003ull), 5u);
  EXPECT_EQ(Get<int(int)>("registers")(7), 49 - 5 + 100 + 49);
  int counter = 3;
  EXPECT_EQ(Get<int(int*)>("operand_order")(&counter), 30 - 4);
  EXPECT_EQ(counter, 5);
}

TEST_F(PtxArithmetic, BitOperations) {
  EXPECT_EQ(static_cast<unsigned>(Bits(0xff00ff00u, 0xf0f0f0f0u, 0xccccccccu, 0)), 0xfcc0fcc0u);  // majority
  EXPECT_EQ(static_cast<unsigned>(Bits(0x03828100u, 0x07060504u, 0x00a9u, 1)), 0x0000ffffu | 0u);
  EXPECT_EQ(Bits(0x0000f000u, 12, 4, 2), -1);
  EXPECT_EQ(Bits(0x7u, 0xffffffffu, 0, 3), static_cast<int>(0xfffff7ffu));
  EXPECT_EQ(Bits(0x80000000u, 1, 1, 4), 3);
  EXPECT_EQ(Bits(0x80000000u, 40, 0, 5), -1);
  EXPECT_EQ(Bits(1, 32, 0, 6), 0);
  EXPECT_EQ(Bits(0xffu, 0, 0, 7), 8);
  EXPECT_EQ(Bits(0x80000000u, 4, 0, 8), 2);
  EXPECT_EQ(Bits(static_cast<unsigned>(-3), 5, 20, 9), 5);
  EXPECT_EQ(Bits(0x01020304u, 0xff01ff01u, 100, 10), 100 + 4 - 3 + 2 - 1);
  EXPECT_EQ(Bits(5, 9, 0, 11), 9);
  EXPECT_EQ(Bits(1, 0, 0, 12), 31);
  EXPECT_EQ(Bits(static_cast<unsigned>(-4), 3, 0, 13), -4);
}

TEST_F(PtxArithmetic, ApproximationsAreNear) {
  auto* approx = Get<float(float, int)>("approx");
  EXPECT_NEAR(approx(0.3f, 0), std::tanh(0.3), 6e-4);
  EXPECT_NEAR(approx(0.3f, 1), std::exp2(0.3), 4e-7);
  EXPECT_NEAR(approx(3.0f, 2), 1.0 / 3, 1e-7);
  EXPECT_NEAR(approx(2.0f, 3), std::sqrt(2.0), 3e-7);
}

TEST_F(PtxArithmetic, MemoryAndAtomics) {
  alignas(16) float floats[8] = {0, 1, 2, 3, 4, 5, 6, 7}, out[4];
  Get<void(const float*, float*)>("load4")(floats, out);
  EXPECT_EQ(out[0], 4.0f);
  EXPECT_EQ(out[3], 7.0f);
  Get<void(float*, float, float)>("store2")(floats, -1.0f, -2.0f);
  EXPECT_EQ(floats[2], -1.0f);
  EXPECT_EQ(floats[3], -2.0f);
  const signed char minus = -7;
  EXPECT_EQ(Get<int(const signed char*)>("load_signed")(&minus), -7);
  unsigned word = 5;
  Get<void(unsigned*, unsigned)>("store_release")(&word, 6);
  EXPECT_EQ(Get<unsigned(const unsigned*)>("load_acquire")(&word), 6u);
  EXPECT_EQ((Get<unsigned(unsigned*, unsigned)>("atomic_add")(&word, 4)), 6u);
  EXPECT_EQ(word, 10u);
  EXPECT_EQ((Get<unsigned(unsigned*, unsigned, unsigned)>("compare_and_swap")(&word, 10, 99)), 10u);
  EXPECT_EQ(word, 99u);
  Get<void(float*, float)>("reduce_add")(floats, 2.5f);
  EXPECT_EQ(floats[0], 2.5f);
  Get<void(float*, float, float)>("reduce_vector")(floats + 4, 10.0f, 20.0f);
  EXPECT_EQ(floats[4], 14.0f);
  EXPECT_EQ(floats[5], 25.0f);
  word = 0x3c003c00u;
  Get<void(unsigned*, unsigned)>("reduce_halves")(&word, 0x40003c00u);
  EXPECT_EQ(word, 0x42004000u);
}

TEST_F(PtxArithmetic, SharedAddressesAndAsynchronousCopies) {
  float r = 0;
  Get<void(float, float*)>("shared_round_trip")(3.25f, &r);
  EXPECT_EQ(r, 3.25f);
  unsigned char source[16];
  for (int i = 0; i < 16; ++i) source[i] = static_cast<unsigned char>(i + 1);
  std::memset(testing::SharedMemory(), 0xee, 64);
  Get<void(unsigned, const void*, int)>("copy_async")(32, source, 5);
  EXPECT_EQ(testing::SharedMemory()[36], 5);
  EXPECT_EQ(testing::SharedMemory()[37], 0);
  EXPECT_EQ(testing::SharedMemory()[47], 0);
  EXPECT_EQ(testing::SharedMemory()[48], 0xee);
  Get<void(unsigned, const void*, bool)>("copy_if")(0, source, false);
  EXPECT_EQ(testing::SharedMemory()[0], 0xee);
  Get<void(unsigned, const void*, bool)>("copy_if")(0, source, true);
  EXPECT_EQ(testing::SharedMemory()[0], 1);
}

}  // namespace
}  // namespace hone
