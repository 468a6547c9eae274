# SPDX-FileCopyrightText: 2026 The Hone Authors
# SPDX-License-Identifier: Apache-2.0
"""Times the operators of a PyTorch problem on a GPU, or on the CPU. Stands behind problem.py, shapes.py and costs.py in one script.

Reads the JSON object that describe.py reads ("text", or "module", "folder" and "added"), with "gpu", the ordinal of the GPU (-1: the CPU), and "seconds", what
timing may take. Writes one line on standard output, "hone: " and a JSON object: {"error": sentence}, or the fields at the end of time_operators.
"""


def model_on(problem, device):
    """Returns (the module, its inputs) on a device, at the file's sizes."""
    import torch
    with torch.device(device):
        model, names = problem.build(problem.sizes, seed=1)
        inputs = inputs_of(names)
    # Some files make tensors from numbers of the host.
    return model.to(device), [one.to(device) if torch.is_tensor(one) else one for one in inputs]


def time_operators(job):
    """Returns what a job's operators cost."""
    import torch
    load_torch()
    torch.set_deterministic_debug_mode("default")  # load_torch asks for deterministic operators, which may be slower
    torch.set_num_threads(job["threads"] or torch.get_num_threads())
    on_gpu = job["gpu"] >= 0
    if on_gpu and not torch.cuda.is_available():
        raise Refused(f"PyTorch {torch.__version__} (CUDA {torch.version.cuda}) sees no GPU: install a build for this driver's CUDA version")
    device = torch.device("cuda", job["gpu"]) if on_gpu else torch.device("cpu")
    if on_gpu:
        torch.cuda.set_device(device)
    problem = Problem(job["text"] if "text" in job else text_of(job), job["file"], job["class"], job["training"])
    problem.sizes.update({name: size for name, size in job.get("sizes", {}).items() if name in problem.sizes})
    with torch.no_grad(), torch.device(device):
        model, inputs = model_on(problem, device)

        def run():
            return model(*inputs)

        calls, result = watched_calls(run)
        if job["or_eval"] and any(name in DRAWS for name, _, _ in calls):
            problem.training = False
            model.eval()
            calls, result = watched_calls(run)
        operators = added_up(calls)
        own = size_of(inputs, outputs_of(result), list(state_of(model).values()))
        del result
        names = [name for name, _, _ in calls]
        clock = GpuClock(device) if on_gpu else CpuClock()
        whole_calls(run, clock, WARM_CALLS - 1)  # watched_calls was the first
        rows = timed_calls(run, names, clock, job["seconds"] / 2)
        whole = whole_calls(run, clock, len(rows))
        nothing = statistics.median(whole_calls(lambda: None, clock, 2 * MOST_CALLS))
    # Two events with nothing between them are 3 us apart on an H200: without this, short operators would seem to take twice their time.
    rows = [[max(0.0, us - nothing) for us in row] for row in rows]
    for one in operators:
        mine = [i for i, name in enumerate(names) if name == one["name"]]
        one["us"] = summary_of([sum(row[i] for i in mine) for row in rows])
    return {"device": torch.cuda.get_device_name(device) if on_gpu else f"the CPU ({torch.get_num_threads()} threads)", "torch": versions(on_gpu), "on_gpu": on_gpu,
            "training": problem.training, "sizes": problem.sizes, "warm_calls": WARM_CALLS, "calls": len(rows), "operators": operators, "own": own,
            "all_us": summary_of([sum(row) for row in rows]), "forward_us": summary_of([max(0.0, us - nothing) for us in whole]), "timer_us": nothing}


def main():
    job = json.load(sys.stdin)
    plain = sys.stdout
    sys.stdout = sys.stderr  # the problem file may print
    if job["gpu"] >= 0:
        wake_gpu(job["gpu"])
    try:
        answer = time_operators(job)
    except (Refused, Changing) as refusal:
        answer = {"error": str(refusal)}
    except BaseException as error:
        answer = {"error": f"{type(error).__name__}: {first_line(error)}"}
    sys.stdout = plain
    print("hone: " + json.dumps(answer), flush=True)


main()
