// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
// What the theme leaves to a mouse. Code, tables and pictures that are wider than the page scroll sideways; with a keyboard
// only what has the focus can be scrolled.
function makeScrollableFocusable() {
  for (const element of document.querySelectorAll("pre, .table-wrapper, p:has(> img)")) {
    if (element.scrollWidth <= element.clientWidth) {
      element.removeAttribute("tabindex");
      continue;
    }
    element.tabIndex = 0;
    if (element.tagName !== "PRE") {
      element.setAttribute("role", "group");
      element.setAttribute("aria-label", element.tagName === "P" ? "Picture, scrolls sideways" : "Table, scrolls sideways");
    }
  }
}
window.addEventListener("load", makeScrollableFocusable);
window.addEventListener("resize", makeScrollableFocusable);

// The two menus of a narrow screen are opened by labels of hidden boxes: they become buttons that keys work on, too.
function makeMenusButtons() {
  const menus = [[".nav-overlay-icon", "__navigation", "Pages", ".sidebar-drawer"], [".toc-overlay-icon", "__toc", "On this page", ".toc-drawer"]];
  for (const [labels, boxId, name, drawer] of menus) {
    const box = document.getElementById(boxId);
    const buttons = document.querySelectorAll(labels + " .icon");  // a label itself may not be called a button
    const tell = () => buttons.forEach((button) => button.setAttribute("aria-expanded", String(box.checked)));
    for (const button of buttons) {
      button.tabIndex = 0;
      button.setAttribute("role", "button");
      button.setAttribute("aria-label", name);
      button.addEventListener("keydown", (event) => {
        if (event.key !== "Enter" && event.key !== " ") return;
        event.preventDefault();
        box.checked = !box.checked;
        tell();
        const first = document.querySelector(drawer + " a");
        if (box.checked && first) requestAnimationFrame(() => first.focus());
      });
    }
    box.addEventListener("change", tell);
    document.addEventListener("keydown", (event) => {
      if (event.key !== "Escape" || !box.checked) return;
      box.checked = false;
      tell();
      [...buttons].find((button) => button.offsetParent)?.focus();
    });
    tell();
  }
}
window.addEventListener("load", makeMenusButtons);

// Excerpts of the pages found are fetched, which a browser refuses to pages on a disk: there the titles have to do.
if (location.protocol === "file:") DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;
