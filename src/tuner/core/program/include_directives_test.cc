// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// These tests give every spelling of a directive that names a file.
#include "tuner/core/program/include_directives.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hone {
namespace {

using ::testing::HasSubstr;

TEST(IncludeDirectives, FilesOfTheHostAreRefusedInAllSpellings) {
  const std::string splice_with_blank = "#inc\\ \nlude \"/etc/passwd\"\n";
  for (const std::string& text : std::vector<std::string>{
           "#include \"/etc/passwd\"", "  # \t include </etc/passwd>", "%:include \"/etc/passwd\"", "%: include \"../secret\"",
           "?\?=include \"/etc/passwd\"", "#/**/include/* */\"/etc/passwd\"", "#inc\\\nlude \"/etc/passwd\"", "#\\\n\\\ninclude \"/etc/passwd\"",
           "#inc?\?/\nlude \"/etc/passwd\"", splice_with_blank, "/* a */ /* b */ #include \"/etc/passwd\"",
           "/* a\n b */ #include \"/etc/passwd\"", "# /* a\n b */ include \"/etc/passwd\"", "#include_next </etc/passwd>",
           "#import \"/etc/passwd\"", "#embed \"/etc/passwd\"", "\xEF\xBB\xBF#include \"/etc/passwd\"", "#include \"a>/../../etc/passwd\"",
           "#include \"cuda/../../../etc/passwd\"", "// a comment ?\?/\n#include \"/etc/passwd\"", "// a comment \\ \n#include \"/etc/passwd\"",
           "R\"x( )x\\\n\" R\"y( )x\";\n#include \"/etc/passwd\"", "#if __has_include(\"/etc/passwd\")\n#endif",
           "%:if defined(X) && __has_include /**/ ( </etc/passwd>)\n#endif", "#if 1\n#elif __has_embed(\"/etc/passwd\")\n#endif",
           "#define HAS __has_include(\"../x\")", "/* a */ const char c = '\"'; /*\n*/ #include \"../x\" /* */", "#include <x/*y>\n#include \"/etc/passwd\"\n/* */",
           "int don't;\n/*\n#include \"/etc/passwd\"\n*/", "switch (c) { case'\"':f(\"/*\"); }\n#include \"/etc/passwd\"\n//*/", "1'\"' f(\"/*\")\n#include \"/etc/passwd\"\n//*/", "const char* s = \"/*\";\n#include \"/etc/passwd\"\n/* */", "#pragma GCC dependency \"/etc/passwd\""}) {
    const auto refusal = JudgeIncludes("__global__ void k();\n" + text + "\n");
    const auto first = JudgeIncludes(text);  // at the beginning of the text
    if (text.rfind("\xEF", 0) != 0) {
      ASSERT_TRUE(refusal) << text;
      EXPECT_EQ(refusal->verdict, Verdict::kRuleViolation) << text;
    }
    ASSERT_TRUE(first) << text;
    EXPECT_EQ(first->verdict, Verdict::kRuleViolation) << text;
  }
}

TEST(IncludeDirectives, NamesThatAMacroMakesAreUnsupported) {
  for (const char* text : {"#define F \"/etc/passwd\"\n#include F\n", "#line 1 \"/etc/passwd\"\n%:include __FILE__\n",
                           "#define F \"/etc/passwd\"\n#if __has_include(F)\n#endif\n", "#define HAS __has_include\n"}) {
    const auto refusal = JudgeIncludes(text);
    ASSERT_TRUE(refusal) << text;
    EXPECT_EQ(refusal->verdict, Verdict::kUnsupported) << text;
    EXPECT_THAT(refusal->sentence, HasSubstr("macro")) << text;
  }
}

TEST(IncludeDirectives, HeadersByNameAndOtherTextPass) {
  for (const char* text : {"#include <cuda_fp16.h>\n#include \"mma.h\"\n#include <cuda/std/array>\n", "#ifdef __has_include\n#if __has_include(<cuda_fp8.h>)\n#endif\n#endif\n",
                           "/* Was:\n#include \"../common.h\"\n#include </opt/x.h>\n*/\n#include <math.h>\nint n = 1'000;\n", "/*\n# include of nothing */\nconst char c = '\"';\n",
                           "// There is no #include here: the #include \"../common.h\" lines were dropped.\n", "// #include \"/etc/passwd\"\n",
                           "const char* t = \"#include \\\"/etc/passwd\\\"\";\n", "#pragma unroll 4\n", "#define CAT(a, b) a ## b\n", "#if defined(__has_include) && 1 /* a */\n#endif\n",
                           "#define STRING(x) #x\n", "#error don't\n", "", "#", "#include", "%:", "?\?="}) {
    const auto refusal = JudgeIncludes(text);
    EXPECT_FALSE(refusal) << text << ": " << refusal->sentence;
  }
}

}  // namespace
}  // namespace hone
