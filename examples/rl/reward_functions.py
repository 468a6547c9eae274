# SPDX-FileCopyrightText: 2026 The Hone Authors
# SPDX-License-Identifier: Apache-2.0
"""Reward functions with the signatures that trainers call: they take a batch of answers and return one float for each.

verl, `reward_model.reward_manager=batch` with `custom_reward_function.path=reward_functions.py`, calls `compute_score`.
TRL's GRPOTrainer takes `grpo_reward` in `reward_funcs`. In both, a sample names its task: verl in `ground_truth`, TRL in a
column `task` of the data set.

Environment variables choose the judge: HONE_DEVICE says where kernels are judged ("auto"; "sim"; "redis://HOST/QUEUE" or "spool:DIR" for workers
elsewhere), HONE_PROGRAM is the program `hone` if it is not in PATH, and with HONE_PAY_MODELLED=1 the simulated GPU's modelled times give a reward
too.
"""
import functools
import os
import re
import warnings

import hone

_FENCE = re.compile(r"```(?:cuda|cpp|c\+\+|cu|c)?[ \t]*\n(.*?)```", re.DOTALL)
_REWARD = hone.Reward(pay_modelled=os.environ.get("HONE_PAY_MODELLED") == "1")


@functools.cache
def _judge():
    return hone.Judge(device=os.environ.get("HONE_DEVICE", "auto"), program=os.environ.get("HONE_PROGRAM"))


def kernel_of(answer):
    """Returns the last fenced block of an answer, in which a model puts its final kernel; without a block, the whole answer."""
    blocks = _FENCE.findall(answer)
    return blocks[-1] if blocks else answer


def _scores(tasks, answers):
    jobs = [hone.Job(task, kernel_of(answer) or " ") for task, answer in zip(tasks, answers, strict=True)]
    outcomes = _judge().eval_all(jobs, return_errors=True)
    errors = [outcome for outcome in outcomes if isinstance(outcome, hone.JudgeError)]
    if errors and len(errors) == len(outcomes):
        raise errors[0]  # every job failed: a reward of 0 for all would hide that
    for why in sorted({str(error).splitlines()[0] for error in errors}):
        warnings.warn(f"{len(errors)} of {len(outcomes)} samples could not be judged: {why}", stacklevel=3)
    scores = [None if isinstance(outcome, hone.JudgeError) else _REWARD(outcome) for outcome in outcomes]
    # A trainer takes only floats. A sample that could not be judged gets the batch's mean, which has almost no effect on training.
    judged = [score for score in scores if score is not None]
    mean = sum(judged) / len(judged) if judged else 0.0
    return [mean if score is None else score for score in scores]


def compute_score(data_sources, solution_strs, ground_truths, extra_infos=None, **_):
    """Returns one float for each answer, as verl calls it."""
    return _scores(ground_truths, solution_strs)


def grpo_reward(completions, task, **_):
    """Returns one float for each completion, which is a text or a list of chat messages, as TRL calls it."""
    return _scores(task, [one if isinstance(one, str) else one[-1]["content"] for one in completions])
