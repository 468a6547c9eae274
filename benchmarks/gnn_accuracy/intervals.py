# SPDX-FileCopyrightText: 2026 The Hone Authors
# SPDX-License-Identifier: Apache-2.0
"""Computes means of a few values and their intervals, for the programs beside this file."""
import math
import statistics


def t_quantile(p, freedom):
    """Returns a quantile of Student's t, by the expansion around the normal quantile (Abramowitz and Stegun 26.7.5)."""
    z = statistics.NormalDist().inv_cdf(p)
    g = [z, (z**3 + z) / 4, (5 * z**5 + 16 * z**3 + 3 * z) / 96, (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384]
    return sum(term / freedom**k for k, term in enumerate(g))


def mean_interval(values):
    """Returns the mean, and its 90 % and 95 % intervals, in percentage points of accuracy."""
    points = [100 * v for v in values]
    result = {"n": len(points), "mean": statistics.fmean(points)}
    if len(points) > 2:
        result["sd"] = statistics.stdev(points)
        for percent in (90, 95):
            half = t_quantile(0.5 + percent / 200, len(points) - 1) * result["sd"] / math.sqrt(len(points))
            result[f"interval{percent}"] = [result["mean"] - half, result["mean"] + half]
    return result
