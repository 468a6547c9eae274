# SPDX-FileCopyrightText: 2026 The Hone Authors
# SPDX-License-Identifier: Apache-2.0
"""The commands `hone` and `hone-gnn` of an installed package: they become the programs that the package holds."""
import os
import sys


def _become(name):
    program = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", name)
    try:
        os.execv(program, [name, *sys.argv[1:]])
    except OSError as error:
        sys.exit(f"{name}: {program} cannot be run ({error.strerror}): install the package again")


def hone():
    _become("hone")


def hone_gnn():
    _become("hone-gnn")
