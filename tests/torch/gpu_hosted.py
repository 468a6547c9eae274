# SPDX-FileCopyrightText: 2026 The Hone Authors
# SPDX-License-Identifier: Apache-2.0
"""gpu_hosted.py HONE FOLDER [DEVICE [PROBLEM.NAME...]]: judges finished modules on a GPU, lifted and hosted, against eager and compiled PyTorch.
Run by hand.

Judges gpu_submissions/PROBLEM.NAME.py against problems/PROBLEM.py as a campaign in FOLDER that is killed once and resumed. If submissions are
named, judges these only, and kills nothing.
Ends with 1 if a verdict is not the EXPECTED one, if the module is not measured to be as fast as itself, or if a submission that keeps results
in shared or local memory (keeps_in_shared, keeps_in_local) is faster than the same kernels without that (keeps_in_nothing).
"""
import json
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
PROBLEMS = {"gated_tanh": 1, "linear_relu": 3, "huber_loss": 5}
LARGER = {"huber_loss": [("rows = 256", "rows = 8192"), ("width = 512", "width = 4096")]}  # a kept sum saves 60 us of reading there
KEEPS, KEPT = "huber_loss.keeps_in_", ("nothing", "shared", "local")  # where the kernels of one file keep their sums
# By submission: verdict and guarantee, which is "lifted", or "hosted" if the module cannot be captured.
EXPECTED = {"gated_tanh.same": ("ok", "lifted"), "gated_tanh.triton": ("ok", "lifted"), "gated_tanh.load_inline": ("ok", "lifted"),
            "gated_tanh.default_stream": ("ok", "lifted"), "gated_tanh.waits": ("ok", "hosted"), "gated_tanh.kept": ("wrong_output", "lifted"),
            "gated_tanh.half_each_time": ("wrong_output", "lifted"), "gated_tanh.behind_the_end": ("rule_violation", "lifted"),
            "linear_relu.same": ("ok", "lifted"), "linear_relu.compiled": ("ok", "lifted"), "linear_relu.tf32": ("wrong_output", "lifted"),
            "linear_relu.side_stream": ("wrong_output", "hosted"), "linear_relu.hogs": ("ok", "hosted"),
            "huber_loss.same": ("ok", "lifted"), **{KEEPS + where: ("ok", "lifted") for where in KEPT}}
FAR = 0.03  # most that the speedup of the module over itself may differ from 1
FAR_KEPT = 0.05  # most that keeping results may seem to gain
FAR_HOGGED = 0.13  # most that linear_relu.hogs may seem faster: a tenth is what slowing the baseline may gain
KILL_SECONDS = 60


def text_of(path, changes=()):
    """Returns a file's text with each (old, new) of `changes` replaced. Each old text must be there once."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    for old, new in changes:
        if text.count(old) != 1:
            sys.exit(f"{path}: {old!r} is there {text.count(old)} times, not once")
        text = text.replace(old, new)
    return text


def write(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def submission_text(name):
    """Returns the text of the submission PROBLEM.NAME."""
    if name.startswith(KEEPS):
        return text_of(os.path.join(HERE, "gpu_submissions", KEEPS + "nothing.py"), [('KEEPS_IN = "nothing"\n', f'KEEPS_IN = "{name[len(KEEPS):]}"\n')])
    return text_of(os.path.join(HERE, "gpu_submissions", name + ".py"))


def main():
    hone, folder = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    device = sys.argv[3] if len(sys.argv) > 3 else "cuda:0"
    problems, submissions = os.path.join(folder, "problems", "level1"), os.path.join(folder, "submissions")
    os.makedirs(problems, exist_ok=True)
    os.makedirs(submissions, exist_ok=True)
    for problem, number in PROBLEMS.items():
        write(os.path.join(problems, f"{number}_{problem}.py"), text_of(os.path.join(HERE, "problems", problem + ".py"), LARGER.get(problem, ())))
    names, chosen = {}, sys.argv[4:]
    for sample, name in enumerate(EXPECTED):
        if chosen and name not in chosen:
            continue
        stem = f"level_1_problem_{PROBLEMS[name.split('.')[0]]}_sample_{sample}_kernel"
        names[stem] = name
        write(os.path.join(submissions, stem + ".py"), submission_text(name))
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
    speeds = {names[one["submission"]]: one["over_eager"]["median"] for one in told["submissions"] if one.get("over_eager")}
    for where in KEPT[1:]:
        if {KEEPS + where, KEEPS + "nothing"} <= speeds.keys():
            gain = speeds[KEEPS + where] / speeds[KEEPS + "nothing"]
            print(f"keeping sums in {where} memory: {gain:.3f} times the speed of keeping nothing")
            if gain > 1 + FAR_KEPT:
                print(f"FAILED: {KEEPS + where} gains by what it keeps")
                failed = True
    for one in told["submissions"]:
        name = names[one["submission"]]
        verdict, guarantee = EXPECTED[name]
        print(f"{name}: {one['verdict']}, {speeds.get(name, 0):.3f} times eager's speed, judged in {one['seconds']:.1f} s")
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
