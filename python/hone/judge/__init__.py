# SPDX-FileCopyrightText: 2026 The Hone Authors
# SPDX-License-Identifier: Apache-2.0
"""The judge: decides whether a CUDA kernel is right, and measures how fast it is, under secret seeds. See docs/python.md."""
from hone.judge.errors import CallError, JudgeError, ServerError
from hone.judge.evaluation import Case, Evaluation, Finding, Interval, Mismatch
from hone.judge.judge import Job, Judge
from hone.judge.reward import Reward

__all__ = [
    "CallError",
    "Case",
    "Evaluation",
    "Finding",
    "Interval",
    "Job",
    "Judge",
    "JudgeError",
    "Mismatch",
    "Reward",
    "ServerError",
]
