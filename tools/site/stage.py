# SPDX-FileCopyrightText: 2026 The Hone Authors
# SPDX-License-Identifier: Apache-2.0
"""Lays out what Sphinx reads: the repository's pages, with links that hold on a site as well.

    stage.py SOURCE PAGES

SOURCE is the repository, PAGES the folder to fill; reference pages are in PAGES/reference already. A page keeps its name
without "docs/" and a README takes its folder's name. A link to another page leads to that page. A link to any other file
of the repository leads to a copy on the site: source code as a highlighted page, the rest as it is. A folder becomes a
list of its files. A link that leads nowhere ends the program with the page, the line and the link.
"""
import fnmatch
import os
import pathlib
import posixpath
import re
import shutil
import subprocess
import sys
import tomllib

HERE = pathlib.Path(__file__).resolve().parent
# Files that are shown as pages, and what highlights them; others are copied, and browsers show or save them.
LEXERS = {".cc": "cpp", ".h": "cpp", ".cu": "cuda", ".py": "python", ".sh": "bash", ".toml": "toml", ".cmake": "cmake", ".yml": "yaml", ".yaml": "yaml", ".sbatch": "bash",
          "": "text", ".txt": "text"}
LARGEST_SHOWN = 200_000  # bytes
# Pages outside docs/ that belong to the site.
ELSEWHERE = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "examples/", "tasks/", "tools/", "benchmarks/")

# Code in which nothing is a link: a fence, and then a span in backticks.
FENCE = re.compile(r"^( *)(```+|~~~+)[^\n]*\n.*?^\1\2 *$", re.M | re.S)
SPAN = re.compile(r"(`+)(?!`).+?(?<!`)\1(?!`)", re.S)
LINK = re.compile(r"(!?)(\[(?:[^\[\]]|\[[^\]]*\])*\])\(\s*([^()\s]+)\s*\)")


def repository_files(source):
    """Returns every file of the repository: what git knows and what it does not ignore; without git, what lies in its folders."""
    if (source / ".git").exists():
        listed = subprocess.run(["git", "-C", source, "ls-files", "-co", "--exclude-standard", "-z"], capture_output=True, check=True)
        return sorted({name for name in listed.stdout.decode().split("\0") if name and (source / name).is_file()})
    found = []
    for folder, folders, names in os.walk(source):
        folders[:] = sorted(f for f in folders if not f.startswith((".", "build")))
        found += [(pathlib.Path(folder) / name).relative_to(source).as_posix() for name in names]
    return sorted(found)


def staged_name(page):
    """Returns the name of a page of the repository on the site."""
    name = page.removeprefix("docs/")
    folder, base = posixpath.split(name)
    return (folder or "readme") + ".md" if base == "README.md" else name.lower() if "/" not in name else name


class Stage:
    def __init__(self, source, target):
        self.source, self.target = source, target
        self.files = repository_files(source)
        self.folders = {str(parent) for name in self.files for parent in pathlib.PurePosixPath(name).parents}
        self.pages = {name: staged_name(name) for name in self.files
                      if name.endswith(".md") and (name.startswith("docs/") or name in ELSEWHERE
                                                   or any(name.startswith(e) for e in ELSEWHERE if e.endswith("/")))}
        if len(set(self.pages.values())) != len(self.pages):
            sys.exit("site: two pages have the same place: " + ", ".join(sorted(self.pages.values())))
        self.copied = {}   # repository file -> staged name
        self.problems = []

    def destination(self, path):
        """Returns the name on the site of the repository's file or folder `path`; None if it is not there."""
        if path in self.pages:
            return self.pages[path]
        if path in self.folders:
            readme = posixpath.join(path, "README.md")
            return self.pages[readme] if readme in self.pages else self.listing(path)
        if path not in self.files:
            return None
        if path not in self.copied:
            suffix, size = pathlib.PurePosixPath(path).suffix, (self.source / path).stat().st_size
            shown = suffix in LEXERS and size <= LARGEST_SHOWN
            self.copied[path] = f"files/{path}.md" if shown else f"files/{path}"
            to = self.target / self.copied[path]
            to.parent.mkdir(parents=True, exist_ok=True)
            if shown:
                text = (self.source / path).read_text()
                fence = "`" * (3 + max([2] + [len(run) for run in re.findall("`+", text)]) - 2)
                to.write_text(f"---\norphan: true\nnosearch: true\n---\n\n# {path}\n\n{fence}{LEXERS[suffix]}\n{text.rstrip()}\n{fence}\n")
            else:
                raw = self.target / "raw/files" / path
                raw.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(self.source / path, raw)
                shutil.copyfile(self.source / path, to)
        return self.copied[path]

    def listing(self, folder):
        name = f"files/{folder}/index.md"
        if folder not in self.copied:
            self.copied[folder] = name
            to = self.target / name
            to.parent.mkdir(parents=True, exist_ok=True)
            entries = [f for f in self.files if posixpath.dirname(f) == folder]
            lines = [f"* {self.link(name, f'[{posixpath.basename(f)}]', self.destination(f), '')}" for f in entries]
            to.write_text(f"---\norphan: true\nnosearch: true\n---\n\n# {folder}\n\n" + "\n".join(lines) + "\n")
        return self.copied[folder]

    def link(self, page, text, to, anchor, image=False):
        """Returns markdown of a link from the staged `page` to the staged `to`. A copied file's goes by a scheme that conf.py resolves."""
        if not to.endswith(".md") and not image:
            return f"{text}(hone-file:{to})"
        return f"{'!' if image else ''}{text}({posixpath.relpath(to, posixpath.dirname(page) or '.')}{anchor})"

    def rewrite(self, page, text):
        staged = self.pages.get(page, page)

        def replaced(match):
            bang, label, target = match.groups()
            if re.match(r"[a-z][a-z0-9+.-]*:", target) or target.startswith("#"):
                return match.group(0)
            path, _, anchor = target.partition("#")
            to = self.destination(posixpath.normpath(posixpath.join(posixpath.dirname(page), path)))
            if to is None:
                self.problems.append(f"{page}: {target} leads to no file of the repository")
                return match.group(0)
            return self.link(staged, label, to, f"#{anchor}" if anchor else "", image=bool(bang))

        # Code becomes characters that no page has, so that nothing in it is taken for a link.
        kept = []

        def hidden(match):
            kept.append(match.group(0))
            return f"\ue000{len(kept) - 1}\ue001"

        text = LINK.sub(replaced, SPAN.sub(hidden, FENCE.sub(hidden, text)))
        while "\ue000" in text:
            text = re.sub("\ue000(\\d+)\ue001", lambda m: kept[int(m.group(1))], text)
        return text

    def run(self):
        for page, staged in self.pages.items():
            to = self.target / staged
            to.parent.mkdir(parents=True, exist_ok=True)
            to.write_text(self.rewrite(page, (self.source / page).read_text()))
        for path in sorted((self.target / "reference").glob("*.md")):  # they name pages as docs/ would
            path.write_text(self.rewrite(f"reference/{path.name}", path.read_text()))
        if self.problems:
            sys.exit("\n".join(self.problems))
        self.write_contents()

    def write_contents(self):
        """Adds the side bar's groups to the start page."""
        generated = [f"reference/{path.name}" for path in sorted((self.target / "reference").glob("*.md"))]
        left = [page for page in list(self.pages) + generated if page != "docs/index.md"]
        text = ""
        for group in tomllib.loads((HERE / "pages.toml").read_text())["group"]:
            chosen = []
            for pattern in group["pages"]:
                matching = sorted(page for page in left if page == pattern or ("*" in pattern and fnmatch.fnmatch(page, pattern)))
                chosen += matching
                left = [page for page in left if page not in matching]
            if chosen:
                entries = "\n".join(self.pages.get(page, page).removesuffix(".md") for page in chosen)
                text += f"\n```{{toctree}}\n:hidden:\n:caption: {group['title']}\n\n{entries}\n```\n"
        with open(self.target / "index.md", "a") as index:
            index.write(text)


if __name__ == "__main__":
    Stage(pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2])).run()
