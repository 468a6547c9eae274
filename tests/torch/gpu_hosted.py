# SPDX-FileCopyrightText: 2026 The Hone Authors
# SPDX-License-Identifier: Apache-2.0
"""gpu_hosted.py HONE FOLDER [DEVICE [PROBLEM.NAME...]]: judges finished modules on a GPU, lifted and hosted, against eager and compiled PyTorch.
Run by hand.

Judges gpu_submissions/PROBLEM.NAME.py against problems/PROBLEM.py as a campaign in FOLDER that is killed once and resumed. If submissions are
named, judges these only, and kills nothing.
Ends with 1 if a verdict is not the EXPECTED one, or if the module is not measured to be as fast as itself.
"""
import json
import os
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
PROBLEMS = {"gated_tanh": 1, "linear_relu": 3}
# By submission: verdict and guarantee, which is "lifted", or "hosted" if the module cannot be captured.
EXPECTED = {"gated_tanh.same": ("ok", "lifted"), "gated_tanh.triton": ("ok", "lifted"), "gated_tanh.load_inline": ("ok", "lifted"),
            "gated_tanh.default_stream": ("ok", "lifted"), "gated_tanh.waits": ("ok", "hosted"), "gated_tanh.kept": ("wrong_output", "lifted"),
            "gated_tanh.half_each_time": ("wrong_output", "lifted"), "gated_tanh.behind_the_end": ("rule_violation", "lifted"),
            "linear_relu.same": ("ok", "lifted"), "linear_relu.compiled": ("ok", "lifted"), "linear_relu.tf32": ("wrong_output", "lifted"),
            "linear_relu.side_stream": ("wrong_output", "hosted"), "linear_relu.hogs": ("ok", "hosted")}
FAR = 0.03  # most that the speedup of the module over itself may differ from 1
FAR_HOGGED = 0.13  # most that linear_relu.hogs may seem faster: a tenth is what slowing the baseline may gain
KILL_SECONDS = 60


def main():
    hone, folder = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    device = sys.argv[3] if len(sys.argv) > 3 else "cuda:0"
    problems, submissions = os.path.join(folder, "problems", "level1"), os.path.join(folder, "submissions")
    os.makedirs(problems, exist_ok=True)
    os.makedirs(submissions, exist_ok=True)
    for problem, number in PROBLEMS.items():
        shutil.copy(os.path.join(HERE, "problems", problem + ".py"), os.path.join(problems, f"{number}_{problem}.py"))
    names, chosen = {}, sys.argv[4:]
    for sample, name in enumerate(EXPECTED):
        if chosen and name not in chosen:
            continue
        stem = f"level_1_problem_{PROBLEMS[name.split('.')[0]]}_sample_{sample}_kernel"
        names[stem] = name
        shutil.copy(os.path.join(HERE, "gpu_submissions", name + ".py"), os.path.join(submissions, stem + ".py"))
    command = [hone, "bench", "kernelbench", os.path.join(folder, "problems"), "--judge", submissions, "--device", device, "--compile",
               "--out", os.path.join(folder, "results")]
    if not chosen:
        try:
            subprocess.run(command, timeout=KILL_SECONDS)  # the time limit kills the campaign
        except subprocess.TimeoutExpired:
            kept = os.path.join(folder, "results", "results")
            print(f"killed after {KILL_SECONDS} s with {len(os.listdir(kept)) if os.path.isdir(kept) else 0} verdicts", flush=True)
    code = subprocess.run(command).returncode
    failed = code != 0
    with open(os.path.join(folder, "results", "summary.json"), encoding="utf-8") as file:
        told = json.load(file)
    for one in told["submissions"]:
        name = names[one["submission"]]
        verdict, guarantee = EXPECTED[name]
        if one["verdict"] != verdict or not one["guarantee"].endswith(guarantee):
            print(f"FAILED: {name} is {one['verdict']} ({one['guarantee']}), not {verdict} ({guarantee}): {one['detail'][:600]} {one.get('not_lifted', '')}")
            failed = True
        over = one.get("over_eager")
        if name.endswith(".same") and over and abs(over["median"] - 1) > FAR:
            print(f"FAILED: {name} is {over['median']:.3f} times as fast as itself")
            failed = True
        if name.endswith(".hogs") and (not over or over["median"] > 1 + FAR_HOGGED):
            print(f"FAILED: {name} seems {over and over['median']} times as fast as the module, because it keeps the GPU busy")
            failed = True
    sys.exit(1 if failed else 0)


main()
