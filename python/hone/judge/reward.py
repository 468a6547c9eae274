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

    A kernel that is not right gets 0. One that is right gets `correct`, and for its speed a share of the rest. That share is the mean over all timed
    shapes of the logarithm of the sure speedup, as a fraction of the logarithm of `most_speedup`, limited to 0 and 1. The sure speedup is the end of
    the 95 % interval that is nearer to 1; its logarithm is 0 if the interval contains 1.

    correct: reward of a right kernel that is not faster.
    most_speedup: speedup over the baseline above which the reward does not grow.
    pay_modelled: False: times from the model of a simulated GPU, which nobody has measured, give no reward.
    pay_weaker: False: speed gives no reward if code of the candidate ran on the host, for which the judge guarantees less.
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
        """Returns the reward, or None if nothing was judged (the device was lost, the task is at fault): leave such a sample out."""
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
    """Returns the logarithm of the end of the interval that is nearer to 1; 0 if the interval contains 1, is missing or not a number."""
    if speedup is None or not (speedup.low > 0 and math.isfinite(speedup.high)):
        return 0.0
    if speedup.low > 1:
        return math.log(speedup.low)
    return math.log(speedup.high) if speedup.high < 1 else 0.0
