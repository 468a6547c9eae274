# SPDX-FileCopyrightText: 2026 The Hone Authors
# SPDX-License-Identifier: Apache-2.0
"""Kernels of other compilers as candidates: what makes a .honek file of what a compiler leaves. See docs/any-compiler.md.

Importing this package imports no compiler.
"""
from hone.kernels.candidate import ExportError, Image, Launch, Workspace, write_candidate

__all__ = ["ExportError", "Image", "Launch", "Workspace", "write_candidate"]
