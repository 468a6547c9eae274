# SPDX-FileCopyrightText: 2026 The Hone Authors
# SPDX-License-Identifier: Apache-2.0
"""Writes a candidate of machine code: launches, images and workspaces as one .honek file.

A .honek file is a zip archive of candidate.toml (the launch plan, docs/candidate-format.md) and the images that it names. This module is independent
of compilers.
"""
import dataclasses
import json
import os
import zipfile


class ExportError(ValueError):
    """A kernel cannot be a candidate. The message says why, and what would be right."""


@dataclasses.dataclass(frozen=True)
class Image:
    """Machine code of one module: `bytes` holds a cubin."""

    data: bytes


@dataclasses.dataclass(frozen=True)
class Workspace:
    """Memory that a launch needs besides the task's tensors: `size` is an expression in bytes, `align` a power of two."""

    name: str
    size: str
    align: int = 256


@dataclasses.dataclass(frozen=True)
class Launch:
    """One way to launch one image. A candidate runs the first of its launches whose `when` holds.

    `grid`, `block` and `cluster` are expressions of the launch plan, `args` its argument texts, and `config` the number of the candidate's
    configuration to which the launch belongs (0 if there is only one).
    """

    kernel: str
    image: Image
    grid: tuple
    block: tuple
    args: tuple
    shared: int = 0
    cluster: tuple = ()
    cooperative: bool = False
    when: str = ""
    config: int = 0
    workspaces: tuple = ()


def shape_conditions(shape):
    """Returns the conditions under which a launch for one shape, {dimension: size}, runs; none without a shape."""
    return [f"{name} == {int(value)}" for name, value in (shape or {}).items()]


def _strings(values):
    return "[" + ", ".join(json.dumps(str(value)) for value in values) + "]"


def _when(launch, configs):
    conditions = [launch.when] if launch.when else []
    if configs > 1:
        conditions.insert(0, f"CONFIG == {launch.config}")
    return " && ".join(f"({c})" if len(conditions) > 1 and "||" in c else c for c in conditions)


def plan_text(launches):
    """Returns the launch plan of these launches as TOML, and the images by the names that the plan gives them."""
    if not launches:
        raise ExportError("there is no launch: a candidate has at least one")
    configs = 1 + max(launch.config for launch in launches)
    images = list(dict.fromkeys(launch.image for launch in launches))
    many = len(images) > 1
    lines = ['mode = "cubin"']
    if many:
        # Each launch chooses its own IMAGE; the constraint keeps users from choosing one.
        lines += ['image = "kernel.IMAGE.cubin"', 'constraints = ["IMAGE == 0"]', "", "[tune]"]
        if configs > 1:
            lines.append(f"CONFIG = {list(range(configs))}")
        lines.append(f"IMAGE = {list(range(len(images)))}")
    workspaces = {}
    for launch in launches:
        for workspace in launch.workspaces:
            workspaces[workspace.name] = workspace
    for workspace in workspaces.values():
        lines += ["", "[[workspace]]", f"name = {json.dumps(workspace.name)}", f"bytes = {json.dumps(workspace.size)}", f"align = {workspace.align}"]
    for launch in launches:
        lines += ["", "[[launch]]", f"kernel = {json.dumps(launch.kernel)}", f"grid = {_strings(launch.grid)}", f"block = {_strings(launch.block)}"]
        if launch.shared:
            lines.append(f"shared = {launch.shared}")
        if launch.cluster:
            lines.append(f"cluster = {_strings(launch.cluster)}")
        if launch.cooperative:
            lines.append("cooperative = true")
        lines.append(f"args = {_strings(launch.args)}")
        if when := _when(launch, configs):
            lines.append(f"when = {json.dumps(when)}")
        if many:
            lines.append(f"with = {{ IMAGE = {images.index(launch.image)} }}")
    names = {f"kernel.{i}.cubin" if many else "kernel.cubin": image.data for i, image in enumerate(images)}
    return "\n".join(lines) + "\n", names


def write_candidate(path, launches):
    """Writes the .honek file `path`, with the same bytes for the same launches. Returns the path."""
    plan, images = plan_text(launches)
    path = os.fspath(path)
    if not path.endswith(".honek"):
        raise ExportError(f"'{path}': a candidate's file name ends in .honek")
    aside = f"{path}.aside-{os.getpid()}"
    try:
        with zipfile.ZipFile(aside, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, data in [("candidate.toml", plan.encode()), *images.items()]:
                archive.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), data, zipfile.ZIP_DEFLATED)
        os.replace(aside, path)
    finally:
        if os.path.exists(aside):
            os.unlink(aside)
    return path
