# SPDX-FileCopyrightText: 2026 The Hone Authors
# SPDX-License-Identifier: Apache-2.0
"""Represents an evaluation as a typed, immutable object. docs/evaluation-json.md describes its JSON form."""
from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, Mapping

# Findings that cast doubt on the times of an evaluation (docs/precision.md, "Looked at again").
DOUBTS = ("beyond_peak", "slow_samples", "varies_between_runs", "unverified_timed_shape")


def _number(value: Any) -> float:
    """Converts a number of the JSON form, in which NaN and the infinities are strings, to a float."""
    return float(value) if value is not None else math.nan


@dataclass(frozen=True)
class Interval:
    """A median and the two ends of its 95 % confidence interval."""

    median: float
    low: float
    high: float

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "Interval":
        low, high = value["ci95"]
        return cls(_number(value["median"]), _number(low), _number(high))


@dataclass(frozen=True)
class Case:
    """One shape that was checked or timed.

    Times are microseconds of one launch of the whole plan. They are None if the shape was not timed, or if the verdict is not "ok".
    """

    dims: Mapping[str, int]
    role: str  # "time", "check" or "hidden"
    time_us: Interval | None = None  # cold caches
    baseline_us: float | None = None
    speedup: Interval | None = None  # the baseline's time / the candidate's: above 1, the candidate is faster
    warm_time_us: Interval | None = None
    warm_speedup: Interval | None = None
    floor_us: float | None = None  # time in which a streaming kernel moves the task's bytes once
    floor_fraction: float | None = None
    decision: str = ""  # "faster", "slower", "same" or "undecided", at a stated error rate; empty: not timed

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "Case":
        def interval(name: str) -> Interval | None:
            return Interval.from_json(value[name]) if name in value else None

        def number(name: str) -> float | None:
            return _number(value[name]) if name in value else None

        return cls(
            dims=dict(value.get("dims", {})),
            role=value.get("role", ""),
            time_us=interval("time_us"),
            baseline_us=number("baseline_us"),
            speedup=interval("speedup"),
            warm_time_us=interval("warm_time_us"),
            warm_speedup=interval("warm_speedup"),
            floor_us=number("floor_us"),
            floor_fraction=number("floor_fraction"),
            decision=value.get("timing", {}).get("decision", ""),
        )


@dataclass(frozen=True)
class Mismatch:
    """The first element that differs from the task's double-precision reference."""

    tensor: str
    dims: Mapping[str, int]
    distribution: str
    index: tuple[int, ...]
    expected: float
    actual: float
    wrong_elements: int
    total_elements: int

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "Mismatch":
        return cls(
            tensor=value.get("tensor", ""),
            dims=dict(value.get("dims", {})),
            distribution=value.get("distribution", ""),
            index=tuple(value.get("index", ())),
            expected=_number(value.get("expected")),
            actual=_number(value.get("actual")),
            wrong_elements=int(value.get("wrong_elements", 0)),
            total_elements=int(value.get("total_elements", 0)),
        )


@dataclass(frozen=True)
class Finding:
    """A finding of the simulated GPU, the profiler or the timer. `location` is "candidate.cu:41", or empty."""

    kind: str
    message: str
    location: str = ""

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "Finding":
        return cls(value.get("kind", ""), value.get("message", ""), value.get("location", ""))


@dataclass(frozen=True)
class Evaluation:
    """The judge's result for one candidate. `raw` is the whole JSON object, with every field of docs/evaluation-json.md."""

    verdict: str
    detail: str
    task: str
    device: str
    modelled: bool  # True: times come from the model of a simulated GPU and were never measured
    geomean_speedup: float | None
    cases: tuple[Case, ...]
    findings: tuple[Finding, ...]
    labels: tuple[str, ...]
    mismatch: Mismatch | None
    guarantee: str
    gates: int  # version of the gates that a candidate had to pass (docs/precision.md); 0: nothing was judged
    raw: Mapping[str, Any] = field(repr=False)

    @property
    def ok(self) -> bool:
        """Returns whether the candidate is right."""
        return self.verdict == "ok"

    @property
    def judged(self) -> bool:
        """Returns whether the verdict is about the candidate, and not about the device or the task."""
        return self.verdict not in ("unsupported", "invalid_task", "device_lost")

    @property
    def timed(self) -> tuple[Case, ...]:
        """Returns the cases that have a speedup over the baseline."""
        return tuple(case for case in self.cases if case.speedup is not None)

    @property
    def doubts(self) -> tuple[Finding, ...]:
        """Findings that cast doubt on the times."""
        return tuple(finding for finding in self.findings if finding.kind in DOUBTS)

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "Evaluation":
        """Reads an object as `hone eval --json` prints it. Unknown fields remain in `raw`. ValueError: there is no verdict."""
        if "verdict" not in value:
            raise ValueError("an evaluation lacks the field 'verdict'")
        geomean = value.get("geomean_speedup")
        return cls(
            verdict=value["verdict"],
            detail=value.get("detail", ""),
            task=value.get("task", ""),
            device=value.get("device", ""),
            modelled=bool(value.get("modelled", False)),
            geomean_speedup=None if geomean is None else _number(geomean),
            cases=tuple(Case.from_json(one) for one in value.get("cases", ())),
            findings=tuple(Finding.from_json(one) for one in value.get("findings", ())),
            labels=tuple(value.get("labels", ())),
            mismatch=Mismatch.from_json(value["mismatch"]) if "mismatch" in value else None,
            guarantee=value.get("guarantee", ""),
            gates=int(value.get("gates", 0)),
            raw=dict(value),
        )
