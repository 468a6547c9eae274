# SPDX-FileCopyrightText: 2026 The Hone Authors
# SPDX-License-Identifier: Apache-2.0
"""Finds the programs `hone` and `hone-gnn`. The commands of an installed package run these programs in their own place."""
import os
import shutil
import sys


def packaged(name):
    """Returns the path at which this package has the program; None if it does not have it."""
    return os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", name)


def find(name):
    """Returns the path of the program: the one in this package, else the first in PATH, else None."""
    return packaged(name) if os.access(packaged(name), os.X_OK) else shutil.which(name)


def _become(name):
    program = packaged(name)
    try:
        os.execv(program, [name, *sys.argv[1:]])
    except OSError as error:
        sys.exit(f"{name}: {program} cannot be run ({error.strerror}): install the package again")


def hone():
    _become("hone")


def hone_gnn():
    _become("hone-gnn")
