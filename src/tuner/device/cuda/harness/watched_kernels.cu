// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The module that a process under a memory checker loads in place of the harness's kernels, whose instrumentation takes
// the checker long. Whatever the checker opens and connects at a first module, it opens at this one, before the process
// confines itself and loads a candidate. The kernel has the name of one of the harness's, so that the fake driver of
// tests knows it.
extern "C" __global__ void hone_separator() {}
