# SPDX-FileCopyrightText: 2026 The Hone Authors
# SPDX-License-Identifier: Apache-2.0
"""How Sphinx makes the site of the pages that stage.py laid out. Every warning is an error (build passes -W)."""
import os
import pathlib

from docutils import nodes
from sphinx.errors import ExtensionError
from sphinx.util.osutil import relative_uri

project = "Hone"
author = "The Hone Authors"
html_title = "Hone"
extensions = ["myst_parser"]
source_suffix = {".md": "markdown"}
exclude_patterns = ["raw"]
nitpicky = True

# Anchors as GitHub and GitLab make them of headings. A link to one that no page has is a warning.
myst_heading_anchors = 6
myst_enable_extensions = ["deflist"]
myst_url_schemes = ("http", "https", "hone-file")
# Excerpts of output and JSON with "…" in it are highlighted as far as they go. A gate's comments, shown as they are written
# for a pull request, begin with a heading of the third level.
suppress_warnings = ["misc.highlighting_failure", "myst.header"]
highlight_language = "text"
# "--option" keeps its two hyphens.
smartquotes = False

html_theme = "furo"
html_static_path = [os.environ["HONE_SITE"] + "/static"]
templates_path = [os.environ["HONE_SITE"] + "/templates"]
html_css_files = ["hone.css"]
html_js_files = ["hone.js"]
html_extra_path = [os.environ["HONE_SITE_PAGES"] + "/raw"]
html_copy_source = False
html_show_sphinx = False
html_show_copyright = False
html_use_index = False
html_permalinks_icon = "#"
html_last_updated_fmt = None
pygments_style = "a11y-high-contrast-light"
pygments_dark_style = "a11y-high-contrast-dark"
html_theme_options = {"top_of_page_buttons": []}


def resolve_copied_files(app, tree, page):
    """Makes links to copied files relative to their page, so that they hold on a server and on a disk."""
    for reference in tree.findall(nodes.reference):
        uri = reference.get("refuri", "")
        if uri.startswith("hone-file:"):
            reference["refuri"] = relative_uri(app.builder.get_target_uri(page), uri.removeprefix("hone-file:"))


# What the theme leaves out for those who use a keyboard or a screen reader: (what it writes, what stands there instead).
MENDED = [
    ('<p class="caption" role="heading">', '<p class="caption" role="heading" aria-level="2">'),
    ('<aside class="sidebar-drawer">', '<aside class="sidebar-drawer" aria-label="Pages">'),
    ('<aside class="toc-drawer">', '<aside class="toc-drawer" aria-label="On this page">'),
]


def mend_theme(app, failure):
    """Fails when the theme changes, so that nothing is left unmended in silence."""
    if failure is not None:
        return
    for old, new in MENDED:
        count = 0
        for path in pathlib.Path(app.outdir).rglob("*.html"):
            text = path.read_text()
            count += text.count(old)
            path.write_text(text.replace(old, new))
        if not count:
            raise ExtensionError(f"the theme no longer writes {old}: look again at MENDED in tools/site/conf.py")


def setup(app):
    app.connect("doctree-resolved", resolve_copied_files)
    app.connect("build-finished", mend_theme)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
