// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Defines assert for the simulated GPU: it ends the launch with the expression and its line. Like the C header that it
// replaces, this file may be included again after NDEBUG has changed.
#include "sim_abi.h"

#undef assert
#if defined(NDEBUG)
#define assert(expression) (static_cast<void>(0))
#else
#define assert(expression) \
  ((expression) ? static_cast<void>(0) : hone_sim_assert_fail(#expression, __FILE__, __LINE__, __func__))
#endif
