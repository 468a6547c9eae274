# SPDX-FileCopyrightText: 2026 The Hone Authors
# SPDX-License-Identifier: Apache-2.0
"""Judges what stages have captured: the referee's part. Stands before referee.py in one script, and uses its names at run time.

For each side (the submission, each baseline) a stage captures forward (lift.py), and a player of the referee's own (player.py) runs
what was captured. A stage sees only the inputs of the capture; the inputs with which results are checked and timed are drawn later
and go to the player. If any of this fails, there is no verdict: the submission is judged hosted instead.
"""
import math
import os
import socket
import time

LIFT_SECONDS = 420      # limit for a capture, with several warm-ups that may compile
PLAY_SECONDS = 120      # limit for a player's work in addition to its launches
SPAN = 1 << 39          # bytes of addresses for a side's memory
LOWEST, HIGHEST, BLOCK = 1 << 43, 1 << 45, 32 << 20  # plans are at [2^43, 2^45), the players' own memory at [2^45, 2^46)
HANDOVER_US = 10e3      # microseconds of launches in one request to a player
LEAST_CALLS, MOST_CALLS_LIFTED = 3, 50
LEAST_LIFTED_QUADS = 6  # the least number of ratios whose range contains their median with a probability of 95 %
MOST_SLOTS = 4          # most sets of inputs of a timed request; no launch has the set of the launch before it
MOST_SLOT_BYTES = 24 << 30  # most bytes of all sets together; besides, they take at most a quarter of the GPU's free memory
COMPARED_BYTES = 256 << 20  # bytes of results that are compared after a timed request: at least one launch's, and at most one launch's for each set
WAITED_FOR = 1 << 30    # if an ended stage had more bytes of GPU memory than this, the referee waits until they are free
SETS_A_SEED = 5         # sets of inputs that are checked with the same weights: each plan's are secret, and a plan keeps nothing between launches
SIDE_BY_SIDE = 16       # captures and the reference run side by side if so many times the case's tensors fit into the GPU's free memory
TIMES_ITSELF = ("autotune", "benchmark", "compile", "do_bench")  # in a submission that may time its own kernels when it is first called


class NoLift(Exception):
    """The submission cannot be judged lifted; the message says why, in a sentence."""


def bytes_of(one):
    """Returns the size in bytes of a tensor with this dtype and shape."""
    import torch
    return math.prod(one["shape"]) * torch.empty((), dtype=getattr(torch, one["dtype"])).element_size()


def carrier_kinds():
    """Returns the subclasses of Side for stages and for players. Side is defined in referee.py, later in the same script."""

    class Capturer(Side):
        def fail(self, verdict, sentence):
            if self.is_submission and verdict == "compile_error":
                raise Verdict(verdict, sentence, None)
            raise NoLift(f"{self.name}: {sentence}")

        def descriptor(self):
            import select
            if not select.select([self.frames.descriptor], [], [], ASK_SECONDS)[0]:
                self.fail("crashed", "the plan did not come")
            with socket.socket(fileno=os.dup(self.frames.descriptor)) as peer:
                _, descriptors, _, _ = socket.recv_fds(peer, 1, 1)
            if len(descriptors) != 1:
                self.fail("crashed", "the plan did not come")
            return descriptors[0]

    class PlayerSide(Side):
        def fail(self, verdict, sentence):
            raise NoLift(f"{self.name}, run again: {sentence}")

        def places(self, layout):
            return {"inputs": [[[one["offset"], bytes_of(one)] for one in slot if "offset" in one] for slot in layout.inputs],
                    "outputs": [[[one["offset"], bytes_of(one)] for one in slot] for slot in layout.outputs]}

    return Capturer, PlayerSide


class Carrier:
    """The submission or a baseline: the stage that captures it, and the player that runs what was captured."""

    def __init__(self, name, stage, player, is_submission):
        capturer, player_side = carrier_kinds()
        self.name, self.is_submission = name, is_submission
        self.stage, self.player = capturer(name, stage, is_submission), player_side(name, player, False)
        self.summary = {}
        self.building = False  # the stage was asked to build the module for the next capture, and has not answered
        self.capturing = False  # the stage was asked to capture, and has not answered
        self.plans = []  # descriptors of the plans that are timed, one for each case
        self.loaded = None  # descriptor of the plan that the player holds


class Spent:
    """Measures seconds by phase: `with spent("capture"): ...`. Seconds of a phase within another are not counted for the outer one."""

    def __init__(self):
        self.seconds, self.open = {}, []

    def __call__(self, name):
        self.name = name
        return self

    def __enter__(self):
        self.open.append([self.name, time.monotonic(), 0.0])

    def __exit__(self, *_):
        name, begin, inner = self.open.pop()
        took = time.monotonic() - begin
        self.seconds[name] = self.seconds.get(name, 0.0) + took - inner
        if self.open:
            self.open[-1][2] += took


class LiftedRun:
    """Judges lifted. It is constructed, and begin() called, before the referee imports PyTorch: stages and players load meanwhile."""

    def __init__(self, job, secret):
        self.referee, self.job, self.secret, self.spent = None, job, secret, Spent()
        count = 1 + len(job["baselines"])
        self.sides = [Carrier(name, 4 + i, 4 + count + i, i == 0) for i, name in enumerate(["the submission", *job["baselines"]])]
        self.unfit = {}
        self.first_seed = secret.getrandbits(31)  # of the first weights, which the submission's stage makes as soon as it has loaded

    def begin(self):
        """Asks all players to reserve their addresses and all stages to load, at the same time. open() waits for them."""
        for side in self.sides:
            side.base, own = (half + self.secret.randrange((HIGHEST - LOWEST) // BLOCK) * BLOCK for half in (LOWEST, HIGHEST))
            side.player.ask({"op": "open", "ordinal": int(self.job["device"].rpartition(":")[2]), "base": side.base, "span": SPAN, "own": own,
                             "flush_bytes": max(64 << 20, 4 * self.job.get("l2_bytes", 0))}, 0, wait=False)
            side.stage.ask({**load_request(self.job, side), "lift": {"base": side.base, "span": SPAN}}, 0, wait=False)
        only = len(self.job["cases"]) == 1 and self.job["trials"] <= SETS_A_SEED  # the first plan is the last, too
        for side in self.sides if only else self.sides[:1]:
            self.ask_to_build(side, self.job["cases"][0], self.first_seed)

    def ask_to_build(self, side, case, seed):
        """Asks a side's stage to build its module, and the submission's to draw constant weights; await_build() waits for both. Initialisers
        draw on the host and take tenths of a second."""
        side.stage.ask({"op": "build", "sizes": case["sizes"], "seed": seed}, 0, wait=False)
        if side.is_submission:
            side.stage.ask({"op": "draw", "plan": case["weights"], "seed": seed}, 0, wait=False)
        side.building = True

    def await_build(self, side, case):
        """Waits until a stage has built the module that it was asked for. This must come before it is asked for anything else."""
        if side.building:
            side.building = False
            with self.spent("build"):
                side.stage.answer(BUILD_SECONDS, "build")
                if side.is_submission:
                    self.referee.was_drawn(case, side.stage.answer(ASK_SECONDS, "draw"))

    def open(self):
        """Waits until players and stages are ready."""
        for side in self.sides:
            side.player.answer(LOAD_SECONDS, "open")
            self.guarded(side, lambda: side.stage.answer(LOAD_SECONDS, "load"))

    def guarded(self, side, action):
        """Calls `action`. A NoLift of the submission or the first baseline passes through; that of another baseline rules out only it."""
        if side.name in self.unfit:
            return
        try:
            action()
        except NoLift as error:
            if side in self.sides[:2]:
                raise
            self.unfit[side.name] = str(error)

    def give(self, side, layout):
        """Gives the side's stage and player memory for inputs and results."""
        side.loaded = None
        side.stage.give(layout, self.referee.device)
        side.player.give(layout, self.referee.device)

    def lift(self, side, case, seed, layout, meanwhile=None):
        """Captures a side, whose stage has been asked to build the module with weights from `seed`. Checks that the player computes the same
        results from the plan as the stage. Returns the plan's descriptor, which the caller must close. `meanwhile` is called while the
        stage captures."""
        referee, stage, player = self.referee, side.stage, side.player
        referee.fill(case, layout)
        if side.is_submission:
            with self.spent("reference"):
                referee.prepare(case, seed)  # the referee makes its own weights while the stage does
        self.await_build(side, case)
        self.put(player, layout)
        self.capture(side, case, seed, layout)
        if meanwhile is not None:
            meanwhile()
        return self.captured(side, case)

    def side_by_side(self, case, layout, seed):
        """Returns whether captures and the reference may run at the same time: there is memory, and the submission does not look as if it
        chose among kernels by their times."""
        import torch
        if any(word in self.job["submission"] for word in TIMES_ITSELF):
            return False
        weights = sum(one.numel() * one.element_size() for one in self.referee.state(case, seed).values())
        free = torch.cuda.mem_get_info(self.referee.device)[0] if self.referee.device.type == "cuda" else math.inf
        return SIDE_BY_SIDE * (layout.bytes + weights) <= free

    def capture(self, side, case, seed, layout):
        """Asks a stage to capture its module, which it has built from `seed`, on the inputs in the referee's memory."""
        if not side.is_submission:
            self.referee.redraw(side.stage, case, seed)
        self.put(side.stage, layout)
        side.stage.ask({"op": "lift"}, 0, wait=False)
        side.capturing = True

    def captured(self, side, case):
        """Waits for a capture and loads it into the player, which has the capture's inputs. Returns what lift() does."""
        referee, stage, player = self.referee, side.stage, side.player
        side.capturing = False
        side.summary = stage.answer(LIFT_SECONDS, "lift").get("plan", {})
        descriptor = stage.descriptor()
        with self.spent("player"):
            side.summary["left_out"] = self.load(side, descriptor).get("left_out", 0)
            self.play(player, {"op": "run"})
        for name, again, once in zip(self.job["outputs"], player.result(0), stage.result(0)):
            fault, _, _ = referee.hold(again, once.double() if once.is_floating_point() else once, case["outputs"][name], 0.0)
            if fault:
                raise NoLift(f"{side.name}: what was captured gives other results than where it was captured ({name})")
        return descriptor

    def begin_baselines(self, case, seed, layout):
        """Has the baselines' stages capture for a task's only case, while the referee checks the submission's last plan. Those of large modules
        wait for lift_all(), because they and the reference need the GPU's memory."""
        if len(self.job["cases"]) > 1 or self.sides[0].summary.get("mapped_bytes", 0) > WAITED_FOR:
            return

        def begin(side):
            if side.capturing:
                return
            self.await_build(side, case)
            self.give(side, layout)
            self.put(side.player, layout)
            self.capture(side, case, seed, layout)

        for side in self.sides[1:]:
            self.guarded(side, lambda side=side: begin(side))

    def load(self, side, descriptor):
        """Sends a plan to the side's player and returns its answer."""
        player = side.player
        player.frames.send({"op": "load"})
        with socket.socket(fileno=os.dup(player.frames.descriptor)) as peer:
            socket.send_fds(peer, [b"p"], [descriptor])
        side.loaded = descriptor
        return player.answer(PLAY_SECONDS, "load")

    def put(self, side, layout):
        """Copies the referee's inputs to the memory of a stage or a player."""
        import torch
        side.words(0, layout.input_bytes).copy_(self.referee.truth.view(torch.int32))
        self.referee.synchronize()

    def play(self, player, request, calls=1):
        """Sends the player a request of `calls` launches, and returns its answer."""
        return player.ask(request, PLAY_SECONDS + self.job["launch_seconds"] * calls)

    def check(self, case, what):
        """Checks the submission at one case, as Referee.check does, by what the player computes."""
        import torch
        referee, side = self.referee, self.sides[0]
        worst = precision = 0.0
        layout = referee.room(case, 1)
        self.await_build(side, case)
        self.give(side, layout)
        for trial in range(self.job["trials"]):
            referee.tell(f"check {what}")
            if trial % SETS_A_SEED == 0:
                seed = referee.secret.getrandbits(31)
                last = trial + SETS_A_SEED >= self.job["trials"]
                if case is self.job["cases"][0] and trial == 0:
                    seed = self.first_seed
                else:
                    self.ask_to_build(side, case, seed)
                for other in self.sides[1:] if last else ():
                    # A stage that has memory would forget its module when it is given other memory.
                    if other.stage.memory is None and not other.building and other.name not in self.unfit:
                        self.guarded(other, lambda other=other: self.ask_to_build(other, case, seed))
                with self.spent("capture"):
                    plan = self.lift(side, case, seed, layout, lambda: self.meanwhile(case, seed, layout, last, trial == 0))
                    if last:
                        self.begin_baselines(case, seed, layout)
                if len(self.sides) > 1 and last:
                    side.plans.append(plan)  # the last one is timed, too
                    case["seed"] = seed
                else:
                    os.close(plan)
                if len(self.sides) == 1 and case is self.job["cases"][-1] and last:
                    with self.spent("end"):
                        self.end_last_stage(side)
            with self.spent("reference"):
                referee.fill(case, layout)
                results, magnitude = referee.right(case, seed)
            case["magnitude"] = max(case.get("magnitude", 0.0), magnitude)
            referee.remember(case, seed, results)
            self.put(side.player, layout)
            with self.spent("play"):
                guards = self.play(side.player, {"op": "run", "guards": True}).get("guards")
            if guards:
                raise Verdict("rule_violation", f"the submission writes outside of its tensors for {what}: {guards}", None)
            if not torch.equal(side.player.words(0, layout.input_bytes), referee.truth.view(torch.int32)):
                raise Verdict("rule_violation", "the submission changes an input: work on a copy", None)
            scaled, rms = referee.compare(case, seed, side.player.result(0), results, magnitude, what)
            worst, precision = max(worst, scaled), max(precision, rms)
            del results
        hard = referee.hard_sets(case, layout, seed)
        while True:
            with self.spent("reference"):
                results, magnitude = next(hard, (None, None))
            if results is None:
                break
            self.put(side.player, layout)
            with self.spent("play"):
                self.play(side.player, {"op": "run"})
            referee.compare_hard(case, side.player.result(0), results, magnitude, what)
        return {"max_scaled_error": worst, "rms_error": precision, **referee.told_of(case), "plan": side.summary}

    def meanwhile(self, case, seed, layout, last, first):
        """Does what can be done while the submission's stage captures: the baselines' captures if this plan is the `last`, and once (`first`)
        a rehearsal of what comes after."""
        if not self.side_by_side(case, layout, seed):
            return
        if last:
            self.begin_baselines(case, seed, layout)
        if first:
            with self.spent("reference"):
                self.referee.rehearse(case, layout, seed)

    def lift_all(self, case):
        """Captures the baselines' plans that are timed for a case, with the weights of the submission's last plan."""
        self.referee.tell(f"capture {sizes_text(case)} for timing")
        layout = self.referee.room(case, 1)

        def lift(side):
            if not side.capturing:
                if side.building:
                    self.await_build(side, case)
                    self.give(side, layout)
                else:
                    self.give(side, layout)
                    self.ask_to_build(side, case, case["seed"])
                side.plans.append(self.lift(side, case, case["seed"], layout))
            else:
                side.plans.append(self.captured(side, case))

        for side in self.sides[1:]:
            self.guarded(side, lambda: lift(side))

    def end_last_stage(self, side):
        """Ends the stages after the last capture, and waits until the stage's GPU memory is free: the reference needs as much."""
        import torch
        held = side.summary.get("mapped_bytes", 0)
        wait = self.referee.device.type == "cuda" and isinstance(held, int) and held > WAITED_FOR
        free = torch.cuda.mem_get_info(self.referee.device)[0] if wait else 0
        self.end_stages()
        side.stage.memory.close()
        begin = time.monotonic()
        while wait and time.monotonic() - begin < 5 and torch.cuda.mem_get_info(self.referee.device)[0] < free + held // 2:
            time.sleep(0.05)  # the driver frees an ended process's memory only some time after its end

    def end_stages(self):
        """Has all stages ended, so that no code of a submission runs on the host, and nothing else runs on the GPU while it is timed."""
        self.referee.frames.send({"end_stages": True})
        self.referee.frames.receive(ASK_SECONDS)

    def timed_slots(self, case):
        """Returns how many sets of inputs a timed request has at this case."""
        import torch
        # Without a GPU (in tests) memory is no limit: a quarter of this is MOST_SLOT_BYTES.
        free = torch.cuda.mem_get_info(self.referee.device)[0] if self.referee.device.type == "cuda" else 4 * MOST_SLOT_BYTES
        room = 3 * Layout(self.job, case, 1).bytes  # the referee's, the submission's and the baseline's
        return max(1, min(MOST_SLOTS, min(MOST_SLOT_BYTES, free // 4) // room))

    def slots_of_launches(self, calls, slots, compared):
        """Draws for a timed request of `calls` launches which slot's inputs each has, never twice the same in a row if there are several.
        Returns these slots and the numbers of the launches whose results are kept, of different slots and `compared` at most."""
        secret, chosen = self.secret, []
        for _ in range(calls):
            others = [slot for slot in range(slots) if slots == 1 or not chosen or slot != chosen[-1]]
            chosen.append(secret.choice(others))
        kept = {}
        for launch in secret.sample(range(calls), calls):
            if len(kept) < compared:
                kept.setdefault(chosen[launch], launch)
        return chosen, sorted(kept.values())

    def time_on(self, side, chosen, kept):
        """Times a side's launches, one for each slot in `chosen`, and returns their times in microseconds, ascending.

        The results of the launches with the numbers in `kept` stay in the shared memory. If there are any, the bytes behind tensors are checked.
        """
        answer = self.play(side.player, {"op": "time", "slots": chosen, "kept": kept, "guards": bool(kept)}, len(chosen))
        if side.is_submission and answer.get("guards"):  # a baseline is asked too, so that both sides' requests take the same way
            raise Verdict("rule_violation", f"the submission writes outside of its tensors while it is timed: {answer['guards']}", None)
        return sorted(answer["times"])

    def compare_timed(self, case, baseline, slots, what):
        """Compares the submission's results of these slots, which a timed request has kept, with the baseline's, and sees whether the submission
        has changed its inputs."""
        import torch
        referee, mine = self.referee, self.sides[0]
        if not torch.equal(mine.player.words(0, mine.player.layout.input_bytes), referee.truth.view(torch.int32)):
            raise Verdict("rule_violation", "the submission changes an input while it is timed: work on a copy", None)
        referee.compare_slots(case, case["seed"], slots, mine.player.result, baseline.player.result, baseline.name, what)

    def time_against(self, number, case, baseline, what):
        """Times the submission and a baseline in interleaved quads of cold launches, by events on the GPU.

        Each half of a quad (one request to each side) has new inputs, in several sets if there is memory, so that no launch has those of the
        launch before it. Of each request the results of secretly drawn launches are compared.
        """
        referee, mine = self.referee, self.sides[0]
        referee.tell(f"time {what} against {baseline.name}")
        slots = case.setdefault("timed_slots", self.timed_slots(case))
        layout = referee.room(case, slots)
        compared = max(1, COMPARED_BYTES * slots // max(1, layout.bytes - layout.input_bytes))
        referee.fill(case, layout)
        for side in (mine, baseline):
            if side.loaded != side.plans[number]:
                side.player.give(layout, referee.device)
                self.load(side, side.plans[number])
            elif side.player.layout.slots != slots:
                side.player.give(layout, referee.device, "release")
            self.put(side.player, layout)
        once = {}
        for side in (mine, baseline):
            self.time_on(side, [0, 0], [])
            once[side] = self.time_on(side, [0] * LEAST_CALLS, [])[0]
        calls = max(LEAST_CALLS, min(MOST_CALLS_LIFTED, math.ceil(HANDOVER_US / max(1.0, *once.values()))))
        times, ratios = {mine: [], baseline: []}, []
        begin = time.monotonic()
        while len(ratios) < MOST_QUADS and (len(ratios) < LEAST_LIFTED_QUADS or time.monotonic() - begin < self.job["time_seconds"]):
            first = referee.secret.random() < 0.5
            took = {mine: [], baseline: []}
            for half in ((first, not first), (not first, first)):
                referee.fill(case, layout)
                for side in (mine, baseline):
                    self.put(side.player, layout)
                chosen, kept = self.slots_of_launches(calls, slots, compared)
                for is_mine in half:
                    side = mine if is_mine else baseline
                    took[side].append(self.time_on(side, chosen, kept)[calls // 2])
                self.compare_timed(case, baseline, [chosen[launch] for launch in kept], what)
            for side in (mine, baseline):
                times[side] += took[side]
            ratios.append(math.sqrt(took[baseline][0] * took[baseline][1] / (took[mine][0] * took[mine][1])))
            if precise(ratios, LEAST_LIFTED_QUADS):
                break
        return {"time_us": summary(times[mine]), "baseline_us": summary(times[baseline]), "speedup": summary(ratios), "quads": len(ratios),
                "calls": calls, "plan": baseline.summary}

    def run(self, referee):
        """Judges all cases and returns the answer."""
        self.referee = referee
        referee.tell("capture the submission")
        with self.spent("context"):
            referee.synchronize()
        with self.spent("reference"):
            referee.prepare(self.job["cases"][0], self.first_seed)  # while the submission's stage loads
        with self.spent("start"):
            self.open()
        cases = []
        for case in self.job["cases"]:
            cases.append({**self.check(case, sizes_text(case)), "baselines": {}})
        if len(self.sides) > 1:
            with self.spent("capture"):
                for case in self.job["cases"]:
                    self.lift_all(case)
            self.end_stages()
        for number, (case, answer) in enumerate(zip(self.job["cases"], cases)):
            for side in self.sides[1:]:
                if side.name not in self.unfit:
                    try:
                        with self.spent("time"):
                            self.guarded(side, lambda: answer["baselines"].update({side.name: self.time_against(number, case, side, sizes_text(case))}))
                    except Unfit as error:
                        answer["baselines"][side.name] = {"error": str(error)}
                if side.name in self.unfit:
                    answer["baselines"][side.name] = {"error": self.unfit[side.name]}
        return {"verdict": "ok", "detail": "", "lifted": True, "cases": cases}


def sizes_text(case):
    return ", ".join(f"{name}={size}" for name, size in case["sizes"].items()) or "the given sizes"

