# SPDX-FileCopyrightText: 2026 The Hone Authors
# SPDX-License-Identifier: Apache-2.0
"""Runs a tutorial from its own page: tutorial.py PAGE BIN, with the programs in BIN.

In a new folder, in the order of the page:
  * a block of code after a line that ends with "`NAME`:" is written to the file NAME;
  * a ```sh block is run by bash, which stops at the first command that fails;
  * a ```text block after a ```sh block shows what that block printed, line by line and in order. "..." stands for any text within
    a line, and as a line of its own for any lines. Several blanks equal one, and a number with a decimal point may be off by a
    tenth: times are modelled, and the last digits of a training's figures differ between kinds of CPU. An accuracy in percent may
    be off by three quarters of a point, because a tenth of it would hide most changes of a model.
tutorial.py --parse PAGE BIN only has the programs parse the commands of every ```sh block (`PROGRAM __parse`). If PAGE is a
folder, the commands of all pages in it are parsed, also in ```console blocks and in blocks without a language.
Prints the processor time that the commands took, and ends with status 1 if the page and the programs disagree.
"""
import os
import pathlib
import re
import resource
import shlex
import subprocess
import sys
import tempfile

BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.M | re.S)


def blocks(page):
    """Returns (line, language, code, the text line before it) for each block of the page."""
    for found in BLOCK.finditer(page):
        before = page[:found.start()].rstrip().rsplit("\n", 1)[-1]
        yield page.count("\n", 0, found.start()) + 1, found.group(1), found.group(2), before


DECIMAL = r"(\d+\.\d+)"


def agrees(line, printed):
    """Returns whether a printed line fits the line that the page shows."""
    shown = " ".join(line.split())
    parts = re.split(rf"(\.\.\.)|{DECIMAL}", shown)  # text, dots or None, number or None, text, ...
    pattern = "".join(re.escape(part) if i % 3 == 0 else ".*" if part == "..." else DECIMAL if part else "" for i, part in enumerate(parts))
    found = re.fullmatch(pattern, printed)
    numbers = [float(part) for part in parts[2::3] if part]
    accuracy = shown.startswith("accuracy: ")
    return bool(found) and all(abs(float(there) - here) <= (0.75 if accuracy else 0.1 * abs(here)) for here, there in zip(numbers, found.groups()))


def missing_line(excerpt, output):
    """Returns the first line of the excerpt that the output lacks; None if it has all lines in order."""
    printed = [" ".join(line.split()) for line in output.splitlines()]
    at, free = 0, True  # free: any lines of the output may come before the next one
    for line in excerpt.splitlines():
        if line.strip() == "...":
            free = True
            continue
        if not line.strip():
            continue
        while at < len(printed) and not printed[at]:
            at += 1
        places = range(at, len(printed)) if free else range(at, min(at + 1, len(printed)))
        found = next((i for i in places if agrees(line, printed[i])), None)
        if found is None:
            return line
        at, free = found + 1, False
    return None


def commands(code):
    """Returns the commands of a block. Lines that end in a backslash or within quotes are joined with the next."""
    text = ""
    for line in code.replace("\\\n", " ").splitlines():
        text += line + "\n"
        try:
            words = shlex.split(text, comments=True)
        except ValueError:  # a quote is open
            continue
        text = ""
        if words:
            yield words
    if text:
        raise ValueError(f"a quote is not closed: {text.strip()}")


def shown_commands(language, code):
    """Returns only the commands of hone and hone-gnn in a block, without output and lists of options."""
    if language == "sh":
        return code
    prompt = "$ " if language == "console" else ""
    lines, kept = code.replace("\\\n", " ").splitlines(), []
    for line in lines if language in ("", "console") else ():
        if re.match(re.escape(prompt) + r"hone(-gnn)? [^…\[\]{}]*$", line) and not re.search(r"\b[A-Z]{3,}\b|\.\.\.", line.split(" #")[0]):
            kept.append(line[len(prompt):])
    return "\n".join(kept)


def parse(path, page, programs, must_have_commands=True):
    wrong, count = [], 0
    for line, language, code, _ in blocks(page):
        try:
            shown = list(commands(shown_commands(language, code)))
        except ValueError as error:
            shown = []
            wrong.append(f"{path}:{line}: {error}")
        for words in shown:
            words = words[:next((i for i, word in enumerate(words) if word in ("|", ">", "<", "&&", ";", "&", "2>&1")), len(words))]
            if words[0] in ("hone", "hone-gnn"):
                count += 1
                done = subprocess.run([programs / words[0], "__parse", *words[1:]], capture_output=True, text=True)
                if done.returncode != 0:
                    wrong.append(f"{path}:{line}: {shlex.join(words)}: {done.stderr.strip()}")
    if must_have_commands and not count:
        wrong.append(f"{path}: no command of hone or hone-gnn stands here")
    return wrong, count


def parse_pages(path, programs):
    """Has the commands of a page, or of all pages of a folder, parsed. Returns what is wrong."""
    pages = sorted(pathlib.Path(path).rglob("*.md")) if os.path.isdir(path) else [pathlib.Path(path)]
    wrong, commands_parsed = [], 0
    for page in pages:
        found, count = parse(page, page.read_text(), programs, must_have_commands=len(pages) == 1)
        wrong, commands_parsed = wrong + found, commands_parsed + count
    if not commands_parsed:
        wrong.append(f"{path}: no command of hone or hone-gnn stands here")
    print(f"{commands_parsed} commands of {len(pages)} pages parsed")
    return wrong


def run(path, page, programs, folder):
    environment = dict(os.environ, PATH=f"{programs}:{os.environ['PATH']}", HONE_STATE=f"{folder}/.state", HOME=folder, LC_ALL="C.UTF-8")
    environment.setdefault("HONE_CACHE", f"{folder}/.cache")
    output, ran, compared = None, 0, 0
    for line, language, code, before in blocks(page):
        named = re.search(r"`([\w./-]+)`:$", before)
        if named:
            pathlib.Path(folder, named.group(1)).write_text(code)
        elif language == "sh":
            done = subprocess.run(["bash", "-euo", "pipefail", "-c", code], cwd=folder, env=environment, text=True, stdin=subprocess.DEVNULL,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            output, ran = done.stdout, ran + 1
            if done.returncode != 0:
                return [f"{path}:{line}: ended with status {done.returncode}:\n{code}{output}"]
        elif language == "text" and output is not None:
            compared += 1
            missing = missing_line(code, output)
            if missing is not None:
                return [f"{path}:{line}: the page shows\n    {missing}\nwhich is not, or not there, in what was printed:\n{output}"]
    if ran < 4 or compared < 3:
        return [f"{path}: {ran} blocks ran and {compared} excerpts were compared: this is no tutorial"]
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(f"{ran} blocks ran, {compared} excerpts agree, {used.ru_utime + used.ru_stime:.1f} s of processor time")
    return []


def main():
    only_parse = sys.argv[1] == "--parse"
    path, programs = sys.argv[-2], pathlib.Path(sys.argv[-1]).resolve()
    if only_parse:
        wrong = parse_pages(path, programs)
    else:
        with tempfile.TemporaryDirectory() as folder:
            wrong = run(path, pathlib.Path(path).read_text(), programs, folder)
    if wrong:
        sys.exit("\n".join(wrong))


if __name__ == "__main__":
    main()
