# SPDX-FileCopyrightText: 2026 The Hone Authors
# SPDX-License-Identifier: Apache-2.0
"""Turns kernels that other compilers have compiled into candidates: .honek files. See docs/any-compiler.md.

Importing this package imports no compiler.
"""
from hone.kernels.candidate import ExportError, Image, Launch, Workspace, write_candidate

__all__ = ["ExportError", "Image", "Launch", "Workspace", "write_candidate"]
