// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// CUTLASS's headers include this file and name nothing in it.
#pragma once
