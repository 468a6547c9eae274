# SPDX-FileCopyrightText: 2026 The Hone Authors
# SPDX-License-Identifier: Apache-2.0
"""A reward for training a model that writes kernels. docs/python.md argues for its definition."""
from __future__ import annotations

import math
from dataclasses import dataclass

from hone.judge.evaluation import Evaluation


@dataclass(frozen=True)
class Reward:
    """Maps an evaluation to a number from 0 to 1.

    A kernel that is not right gets 0. One that is right gets `correct`, and for speed a share of the rest: for every timed
    shape the logarithm of the speedup that is sure, which is the end of the 95 % interval that lies nearer to 1, or 0 where
    the interval holds 1; their mean over all timed shapes, as a fraction of the logarithm of `most_speedup`, between 0 and 1.

    correct: what a right kernel gets that is no faster.
    most_speedup: the speedup over the baseline from which on there is no more to be had.
    pay_modelled: whether times that a simulated GPU's model gave are paid for. Nobody has measured them.
    pay_weaker: whether speed is paid for where code of the candidate ran on the host, for which the judge guarantees less.
    """

    correct: float = 0.3
    most_speedup: float = 4.0
    pay_modelled: bool = False
    pay_weaker: bool = False

    def __post_init__(self):
        if not 0 <= self.correct <= 1:
            raise ValueError(f"correct={self.correct}: must lie between 0 and 1")
        if not self.most_speedup > 1:
            raise ValueError(f"most_speedup={self.most_speedup}: must be more than 1")

    def __call__(self, evaluation: Evaluation) -> float | None:
        """The reward, or None where nothing was judged (the device was lost, the task is at fault): leave such a sample out."""
        if evaluation.verdict in ("device_lost", "invalid_task"):
            return None
        if not evaluation.ok:
            return 0.0
        return self.correct + (1 - self.correct) * self._speed(evaluation)

    def _speed(self, evaluation: Evaluation) -> float:
        timed = [case for case in evaluation.cases if case.role == "time"]
        paid = (
            timed
            and not evaluation.doubts
            and (self.pay_modelled or not evaluation.modelled)
            and (self.pay_weaker or evaluation.guarantee == "full")
        )
        if not paid:
            return 0.0
        sure = sum(_sure_log(case.speedup) for case in timed) / len(timed)
        return min(max(sure / math.log(self.most_speedup), 0.0), 1.0)


def _sure_log(speedup) -> float:
    """The logarithm of the end of the interval nearer to 1; 0 where it holds 1, is not a number or is not there."""
    if speedup is None or not (speedup.low > 0 and math.isfinite(speedup.high)):
        return 0.0
    if speedup.low > 1:
        return math.log(speedup.low)
    return math.log(speedup.high) if speedup.high < 1 else 0.0
