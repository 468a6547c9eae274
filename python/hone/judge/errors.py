# SPDX-FileCopyrightText: 2026 The Hone Authors
# SPDX-License-Identifier: Apache-2.0
"""Defines the errors of the judge's client.

A candidate that is wrong, slow or does not compile is not an error: it has an Evaluation, whose verdict says so.
"""


class JudgeError(Exception):
    """The judge could not be asked, or could not answer."""


class CallError(JudgeError, ValueError):
    """A call is wrong: an unknown task, tunable, case or device. The message names the argument and the remedy."""


class ServerError(JudgeError, RuntimeError):
    """The judge's process could not be started, ended while it worked, or failed on its machine."""
