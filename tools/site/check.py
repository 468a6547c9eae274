# SPDX-FileCopyrightText: 2026 The Hone Authors
# SPDX-License-Identifier: Apache-2.0
"""Checks a finished site: check.py FOLDER.

Every link leads to a file of the site, every anchor to an element; pages and style sheets load nothing from outside and
hold wherever the folder lies, on a disk too; every page has one heading of the first level and no level is left out;
every image has a text. Prints what is wrong with its page, and ends with status 1; else a line with what was checked.
"""
import html.parser
import pathlib
import re
import sys
import urllib.parse

# What a browser fetches by itself, by element and attribute; <a> is followed by a reader.
LOADED = {("script", "src"), ("img", "src"), ("link", "href"), ("iframe", "src"), ("source", "src"), ("video", "src"), ("audio", "src"),
          ("object", "data"), ("embed", "src"), ("image", "href"), ("use", "href")}
NOT_FETCHED = {"canonical", "search", "index", "next", "prev", "author", "license", "help"}  # rel of <link>


class Page(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.ids, self.links, self.loads, self.levels, self.problems = set(), [], [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        if values.get("id"):
            if values["id"] in self.ids:
                self.problems.append(f"two elements have the id {values['id']}")
            self.ids.add(values["id"])
        if re.fullmatch("h[1-6]", tag):
            self.levels.append(int(tag[1]))
        if tag == "img" and not (values.get("alt") or "").strip():
            self.problems.append(f"an image without a text: {values.get('src')}")
        if tag == "a" and values.get("href") is not None:
            self.links.append(values["href"])
        for name in ("src", "href", "data"):
            if (tag, name) in LOADED and values.get(name):
                fetched = tag != "link" or not NOT_FETCHED & set((values.get("rel") or "").split())
                (self.loads if fetched else self.links).append(values[name])


def outside(address):
    return bool(re.match(r"(?:[a-zA-Z][a-zA-Z0-9+.-]*:|//)", address)) and not address.startswith("data:")


def check(folder):
    pages = {path: Page(path.read_text()) for path in sorted(folder.rglob("*.html"))}
    problems, links = [], 0

    def lead(path, address, what):
        """Returns the place that an address in `path` names; None, after a report of what is wrong, if there is none."""
        name, _, anchor = address.partition("#")
        if address.startswith("/"):
            return problems.append(f"{path}: {what} {address} begins with '/': it would not hold on a disk")
        target = (path.parent / urllib.parse.unquote(name.partition("?")[0])).resolve() if name else path
        if not target.is_file():
            return problems.append(f"{path}: {what} {address} leads nowhere")
        if anchor and target in pages and urllib.parse.unquote(anchor) not in pages[target].ids:
            problems.append(f"{path}: {what} {address}: the page has no such anchor")

    for path, page in pages.items():
        problems += [f"{path}: {problem}" for problem in page.problems]
        if page.levels.count(1) != 1:
            problems.append(f"{path}: {page.levels.count(1)} headings of the first level")
        for above, level in zip(page.levels, page.levels[1:]):
            if level > above + 1:
                problems.append(f"{path}: a heading of level {level} under one of level {above}")
        for address in page.links:
            links += 1
            if not outside(address) and address:
                lead(path, address, "the link")
        for address in page.loads:
            if outside(address):
                problems.append(f"{path}: loads {address} from outside")
            elif not address.startswith("data:"):
                lead(path, address, "the resource")
    for path in list(folder.rglob("*.css")) + list(folder.rglob("*.svg")):
        for address in re.findall(r"url\(\s*['\"]?([^'\")]+)|@import\s+['\"]([^'\"]+)", path.read_text()):
            address = "".join(address)
            if outside(address):
                problems.append(f"{path}: loads {address} from outside")
    return pages, links, [str(p).replace(str(folder) + "/", "") for p in problems]


def main():
    folder = pathlib.Path(sys.argv[1]).resolve()
    pages, links, problems = check(folder)
    if len(pages) < 30 or links < 1000:
        problems.append(f"{len(pages)} pages with {links} links: this is no site")
    if problems:
        sys.exit("\n".join(["site: what is wrong:"] + problems))
    print(f"{len(pages)} pages, {links} links, none broken, nothing loaded from outside.")


if __name__ == "__main__":
    main()
