# SPDX-FileCopyrightText: 2026 The Hone Authors
# SPDX-License-Identifier: Apache-2.0
"""gpu_hosted.py HONE FOLDER [DEVICE]: finished modules on a GPU, against eager and compiled PyTorch. Run by hand.

Judges gpu_submissions/PROBLEM.NAME.py against problems/PROBLEM.py as a campaign in FOLDER that is killed once and goes on.
Ends with 1 where a verdict is another than EXPECTED, or the module itself is not as fast as itself.
"""
import json
import os
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
PROBLEMS = {"gated_tanh": 1, "linear_relu": 3}
EXPECTED = {"gated_tanh.same": "ok", "gated_tanh.triton": "ok", "gated_tanh.load_inline": "ok", "linear_relu.same": "ok",
            "linear_relu.tf32": "wrong_output", "linear_relu.side_stream": "wrong_output"}
FAR = 0.03  # of the module against itself
KILL_SECONDS = 60


def main():
    hone, folder = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    device = sys.argv[3] if len(sys.argv) > 3 else "cuda:0"
    problems, submissions = os.path.join(folder, "problems", "level1"), os.path.join(folder, "submissions")
    os.makedirs(problems, exist_ok=True)
    os.makedirs(submissions, exist_ok=True)
    for problem, number in PROBLEMS.items():
        shutil.copy(os.path.join(HERE, "problems", problem + ".py"), os.path.join(problems, f"{number}_{problem}.py"))
    names = {}
    for sample, name in enumerate(EXPECTED):
        stem = f"level_1_problem_{PROBLEMS[name.split('.')[0]]}_sample_{sample}_kernel"
        names[stem] = name
        shutil.copy(os.path.join(HERE, "gpu_submissions", name + ".py"), os.path.join(submissions, stem + ".py"))
    command = [hone, "bench", "kernelbench", os.path.join(folder, "problems"), "--judge", submissions, "--device", device, "--compile",
               "--out", os.path.join(folder, "results")]
    try:
        subprocess.run(command, timeout=KILL_SECONDS)  # and killed
    except subprocess.TimeoutExpired:
        kept = os.path.join(folder, "results", "results")
        print(f"killed after {KILL_SECONDS} s with {len(os.listdir(kept)) if os.path.isdir(kept) else 0} verdicts", flush=True)
    code = subprocess.run(command).returncode
    failed = code != 0
    with open(os.path.join(folder, "results", "summary.json"), encoding="utf-8") as file:
        told = json.load(file)
    for one in told["submissions"]:
        name = names[one["submission"]]
        if one["verdict"] != EXPECTED[name]:
            print(f"FAILED: {name} is {one['verdict']}, not {EXPECTED[name]}: {one['detail'][:600]}")
            failed = True
        over = one.get("over_eager")
        if name.endswith(".same") and over and abs(over["median"] - 1) > FAR:
            print(f"FAILED: {name} is {over['median']:.3f} times as fast as itself")
            failed = True
    sys.exit(1 if failed else 0)


main()
