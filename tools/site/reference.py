# SPDX-FileCopyrightText: 2026 The Hone Authors
# SPDX-License-Identifier: Apache-2.0
"""Writes the reference pages from what the programs and the formats say about themselves.

    reference.py BIN PAGES

BIN holds hone and hone-gnn, PAGES/reference is filled: a page of options for each program, made of its manual pages
(`PROGRAM __man`); a page of the tools of `hone mcp`, made of its own `tools/list`, whose schemas are copied beside it; and
a page of an evaluation's fields, made of their JSON Schema.
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile


def plain(text):
    """Returns text in which no character is mark-up."""
    return re.sub(r"([\\`*_{}\[\]<>#|~])", r"\\\1", text)


def code(text):
    """Returns a span of code, whatever backticks are in the text."""
    ticks = "`" * (1 + max([0] + [len(run) for run in re.findall("`+", text)]))
    return f"{ticks} {text} {ticks}" if "`" in text else f"{ticks}{text}{ticks}"


# ---- manual pages ----------------------------------------------------------------------------------------------------


def unroff(text):
    text = text.replace("\\&", "").replace("\\fB", "").replace("\\fI", "").replace("\\fR", "")
    return text.replace("\\-", "-").replace("\\e", "\\")


def read_manual(text):
    """Returns (section, subsection, [(term, text)]) of a page, in order; a paragraph has no term. Fails on what it does not know."""
    sections, entries, lines = [], None, iter(text.splitlines())
    kind = None  # of the last entry: "term" waits for its name, "code" for .fi
    for line in lines:
        if line.startswith(".SH ") or line.startswith(".SS "):
            title = unroff(line[4:].strip('"'))
            entries = []
            if line.startswith(".SH "):
                sections.append((title, "", entries))
            else:
                sections.append((sections[-1][0], title, entries))
            kind = None
        elif line.startswith((".TH", ".RS", ".RE")):
            continue
        elif line == ".TP":
            kind = "term"
        elif line == ".PP":
            kind = None
            entries.append(["", ""])
        elif line == ".nf":
            kind = "code"
        elif line == ".fi":
            kind = None
        elif line.startswith(".BR "):
            continue  # other pages: the page of the program lists them all
        elif re.match(r"[.'](?!\\)", line):
            raise SystemExit(f"site: a manual page has '{line}', which tools/site/reference.py does not know")
        elif kind == "term":
            entries.append([unroff(line), ""])
            kind = None
        elif kind == "code":
            entries.append(["$code", unroff(line)])
        elif entries:
            entries[-1][1] = (entries[-1][1] + "\n" + unroff(line)).strip()
        else:
            entries.append(["", unroff(line)])
    return sections


def write_program(binary, target):
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([binary, "__man", folder], check=True)
        pages = {path.stem: path.read_text() for path in pathlib.Path(folder).glob("*.1")}
    program = binary.name
    out = [f"# `{program}`: commands and options", "",
           f"This page is made from the manual pages of `{program}`; `{program} help COMMAND` prints the same, and so does",
           f"`man {program}-COMMAND` where a package is installed.", ""]
    # The program first, then commands as they are listed there, each followed by its own.
    order = {name: index for index, name in enumerate(re.findall(r"^\\fB([\w\\-]+)\\fR\(1\)$", pages[program], re.M))}
    order = {unroff(name): index for name, index in order.items()}

    def place(name):
        parts = [key for key in order if name == key or name.startswith(key + "-")]
        return (-1 if name == program else order[max(parts, key=len)], name)

    synopses = {name: unroff(re.search(r"^\.SH SYNOPSIS\n(.*)", text, re.M).group(1)) for name, text in pages.items()}
    titles = {name: synopsis.partition(" [OPTIONS]")[0] for name, synopsis in synopses.items()}  # "hone tasks check"
    for name in sorted(pages, key=place):
        sections, named, title = read_manual(pages[name]), synopses[name], titles[name]
        description = sections[0][2][0][1].partition(" - ")[2]
        out += [f"## `{title}`", "", plain(description[:1].upper() + description[1:].rstrip(".")) + ".", "", "```text", named, "```", ""]
        for section, subsection, entries in sections:
            if section in ("NAME", "SYNOPSIS") or not [e for e in entries if e[1] or e[0]]:
                continue
            heading = subsection or section.capitalize()
            if section == "SEE ALSO":
                documents = [match for e in entries for match in re.findall(r"The file (\S+)", e[1])]
                out += [f"More: [{document.removeprefix('docs/')}](../{document})." if document.startswith("docs/") else
                        f"More: [{document}](../{document})." for document in documents] + [""]
                continue
            out += [f"### {heading} of `{title}`" if section != "OPTIONS" or not subsection else f"### {heading} (`{title}`)", ""]
            for term, text in entries:
                if term == "$code":
                    out += ["```sh", text, "```", ""]
                elif term:
                    shown = code(term.strip())
                    if section == "COMMANDS":  # "hone-tasks-check(1)" leads to "## `hone tasks check`"
                        page = term.strip().removesuffix("(1)")
                        shown = f"[{code(titles[page])}](#{titles[page].replace(' ', '-')})"
                    out += [shown, f": {plain(text)}".replace("\n", "\n  "), ""]
                elif text:
                    out += [plain(text), ""]
    target.write_text("\n".join(out).rstrip() + "\n")


# ---- tools -----------------------------------------------------------------------------------------------------------


def ask_tools(hone):
    """Returns what `hone mcp` answers to tools/list."""
    with tempfile.TemporaryDirectory() as folder:
        opening = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "site", "version": "1"}}
        requests = [{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": opening},
                    {"jsonrpc": "2.0", "method": "notifications/initialized"},
                    {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}]
        done = subprocess.run([hone, "mcp", "--root", folder, "--device", "sim"], capture_output=True, text=True, check=True, timeout=60,
                              input="".join(json.dumps(request) + "\n" for request in requests))
    for line in done.stdout.splitlines():
        answer = json.loads(line)
        if answer.get("id") == 2:
            return answer["result"]["tools"]
    raise SystemExit("site: hone mcp did not answer tools/list: " + done.stderr)


def kind_of(schema):
    kind = schema.get("type", "any")
    if "const" in schema:
        return f"`{schema['const']}`"
    if schema.get("$ref", "").endswith("/number") or kind == ["number", "string"]:
        return "number"
    if set(schema.get("properties", {})) == {"median", "ci95"}:
        return "interval"
    kind = " or ".join(kind) if isinstance(kind, list) else kind
    if kind == "array":
        return "list of " + kind_of(schema.get("items", {})) + "s"
    if "enum" in schema:
        return "one of " + ", ".join(f"`{value}`" if value else "an empty text" for value in schema["enum"])
    limits = [f"{word} {schema[key]}" for key, word in (("minimum", "at least"), ("maximum", "at most")) if key in schema]
    return kind + (" (" + ", ".join(limits) + ")" if limits else "")


def resolved(schema, definitions):
    """Returns a schema without references. A field beside a reference takes precedence over the same field of what it leads to."""
    name = schema.get("$ref", "").removeprefix("#/$defs/")
    return {**definitions[name], **schema} if name else schema


def fields(schema, prefix="", definitions=None):
    """Returns (name, kind, required, description) of an object's fields, those of objects in it too: "cases[].dims"."""
    for name, field in schema.get("properties", {}).items():
        full, field = prefix + name, resolved(field, definitions or {})
        if "items" in field:
            field = {**field, "items": resolved(field["items"], definitions or {})}
        yield full, kind_of(field), name in schema.get("required", []), field.get("description", "")
        inner = field
        while inner.get("type") == "array":
            full, inner = full + "[]", inner.get("items", {})
        if set(inner.get("properties", {})) != {"median", "ci95"}:  # an interval is said once
            yield from fields(inner, full + ".", definitions)


def described(entries):
    """Returns a list of fields, as a page has it."""
    out = []
    for name, kind, note, description in entries:
        out += [code(name), f": {kind}{note}" + (f". {plain(description)}".replace("\n", " ") if description else ""), ""]
    return out or ["None.", ""]


def write_evaluation(schema_file, target):
    schema = json.loads(schema_file.read_text())
    out = ["# The evaluation, field by field", "", "This page is made from [evaluation.schema.json](../docs/formats/evaluation.schema.json), the JSON Schema of",
           "what `hone eval --json` prints; [evaluation-json.md](../docs/evaluation-json.md) explains it. A number that is not finite is one of",
           "the strings `nan`, `inf` and `-inf`. An interval is an object of a `median` and, as `ci95`, the ends of its 95 % interval.", ""]
    required = {True: ", always there", False: ""}
    target.write_text("\n".join(out + described((name, kind, required[needed], text)
                                                for name, kind, needed, text in fields(schema, definitions=schema["$defs"]))).rstrip() + "\n")


def write_tools(hone, target, raw):
    tools = ask_tools(hone)
    out = ["# Tools of `hone mcp`", "", "This page is made from what `hone mcp` answers to `tools/list`; [mcp.md](../docs/mcp.md) says how to",
           "set the server up. The schemas themselves: [mcp-tools.json](hone-file:files/reference/mcp-tools.json).", ""]
    for tool in tools:
        out += [f"## `{tool['name']}`", "", plain(tool["description"]), ""]
        for heading, schema in (("Arguments", tool["inputSchema"]), ("Answer", tool["outputSchema"])):
            out += [f"### {heading} of `{tool['name']}`", ""]
            out += described((name, kind, ", required" if required and heading == "Arguments" else "", text)
                             for name, kind, required, text in fields(schema))
    target.write_text("\n".join(out).rstrip() + "\n")
    raw.parent.mkdir(parents=True, exist_ok=True)
    raw.write_text(json.dumps(tools, indent=1) + "\n")


def main():
    binaries, pages = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    (pages / "reference").mkdir(parents=True, exist_ok=True)
    for program in ("hone", "hone-gnn"):
        write_program(binaries / program, pages / "reference" / f"{program}.md")
    write_evaluation(pathlib.Path(__file__).resolve().parent.parent.parent / "docs/formats/evaluation.schema.json",
                     pages / "reference/evaluation.md")
    write_tools(binaries / "hone", pages / "reference/mcp-tools.md", pages / "raw/files/reference/mcp-tools.json")


if __name__ == "__main__":
    main()
