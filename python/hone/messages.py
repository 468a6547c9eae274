# SPDX-FileCopyrightText: 2026 The Hone Authors
# SPDX-License-Identifier: Apache-2.0
"""Rewrites sentences of the programs in Python's terms: what they call an option is an argument here."""
from __future__ import annotations

import re
from typing import Collection, Mapping

# Words that are values where they follow an option.
_WORDS = ("sim|cpu|cuda(?::\\w+)?|auto|host|device|peers|gpu|bf16|fp32|float32|float16|bfloat16|constant|cosine|step|validation|accuracy|macro-f1|auc|"
          "all|new|train|valid|test|values|sage-ri|sage|gat|gin")
_NUMBER = r"-?\d+(?:\.\d+)?(?:e-?\d+)?"
# An option in a message of the program, with what follows it: the placeholder of a value, numbers, a word or a quoted text.
_OPTION = re.compile(rf"(?<![\w-])--([a-z]+(?:-[a-z]+)*)(?: (?:([A-Z]{{2,}})\b|({_NUMBER}(?:,(?:{_NUMBER}|all))*)(?![\w,])|({_WORDS})(?![\w-])|('[^']*')))?")
# A command of the program that shows an option, between backticks.
_COMMAND = re.compile(r"hone-gnn (train|infer|convert|serve) ((?:--[a-z-]+ ?)+)")


def _argument(found: re.Match[str], flags: Collection[str]) -> str:
    name, placeholder, numbers, word, quoted = found.groups()
    python = name.replace("-", "_")
    if placeholder:
        return f"{python}={placeholder}"
    if numbers:
        return f"{python}=[{', '.join(repr(one) if one == 'all' else one for one in numbers.split(','))}]" if "," in numbers else f"{python}={numbers}"
    if name in flags:  # what follows belongs to the sentence
        return f"{python}=True" + found[0][2 + len(name) :]
    if word or quoted:
        return f"{python}={quoted or repr(word)}"
    return python


def _command(part: str) -> str:
    """Returns a command that only shows options as a call, and any other one as it is."""
    command = _COMMAND.fullmatch(part)
    if command is None or "--help" in part:
        return part
    return f"{command[1]}({', '.join(one[2:].replace('-', '_') + '=…' for one in command[2].split())})"


def as_python(message: str, flags: Collection[str] = (), arguments: Mapping[str, str] = {}, only: Collection[str] | None = None) -> str:
    """Rewrites a message of a program in Python's terms. Options become arguments with their values (`--device cpu`: device='cpu'), and files that we
    wrote and options with another name here (the keys of `arguments`) get the names of their arguments. Other commands between backticks stay.

    flags: the options without a value, which are True in Python. only: the options that are rewritten, for messages that may quote code; None: all.
    """
    for path, name in arguments.items():
        message = message.replace(f"'{path}'", name).replace(path, name)
    parts = message.split("`")

    def argument(found: re.Match[str]) -> str:
        return _argument(found, flags) if only is None or found[1] in only else found[0]

    parts[::2] = [_OPTION.sub(argument, part) for part in parts[::2]]
    parts[1::2] = [_command(part) for part in parts[1::2]]
    return "`".join(parts)
