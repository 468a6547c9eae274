// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// See ptx_rewrite.h.
#include "tuner/device/sim/cuda/ptx_rewrite.h"

#include "tuner/device/sim/cuda/asm_statement.h"
#include "tuner/device/sim/cuda/ptx_translate.h"
#include "tuner/device/sim/cuda/shared_declarations.h"
#include "tuner/device/sim/cuda/unroll_pragmas.h"

namespace hone {

Result<std::string> RewriteInlinePtx(std::string_view source) {
  HONE_ASSIGN_OR_RETURN(const std::vector<AsmStatement> statements, FindAsmStatements(source));
  std::string out;
  size_t done = 0;
  for (const AsmStatement& statement : statements) {
    out.append(source.substr(done, statement.begin - done));
    HONE_ASSIGN_OR_RETURN(const std::string translated, TranslatePtx(statement));
    out += translated;
    // The statement's line breaks stay, escaped inside a macro definition.
    for (int k = 0; k < statement.newlines; ++k) out += statement.in_directive ? "\\\n" : "\n";
    done = statement.end;
  }
  out.append(source.substr(done));
  return InitializeSharedVariables(RewriteUnrollPragmas(out));
}

}  // namespace hone
