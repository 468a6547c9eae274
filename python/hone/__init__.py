# SPDX-FileCopyrightText: 2026 The Hone Authors
# SPDX-License-Identifier: Apache-2.0
"""Hone for Python: the judge of CUDA kernels.

    import hone

    with hone.Judge(device="sim") as judge:
        evaluation = judge.eval_now("relu", open("my_relu.cu").read())
        print(evaluation.verdict, evaluation.geomean_speedup)

Importing this package imports nothing else. The module that a name needs is imported when the name is first used.
"""

_HOMES = {
    "Judge": "hone.judge.judge",
    "Job": "hone.judge.judge",
    "Evaluation": "hone.judge.evaluation",
    "JudgeError": "hone.judge.errors",
    "CallError": "hone.judge.errors",
    "ServerError": "hone.judge.errors",
    "Reward": "hone.judge.reward",
}
__all__ = sorted(_HOMES)


def __getattr__(name):
    if name not in _HOMES:
        raise AttributeError(f"module 'hone' has no attribute '{name}'")
    import importlib

    value = getattr(importlib.import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__():
    return sorted(set(globals()) | set(_HOMES))
