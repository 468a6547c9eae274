# SPDX-FileCopyrightText: 2026 The Hone Authors
# SPDX-License-Identifier: Apache-2.0
"""Tests `hone report --serve` in a real browser: the page follows a running run, obeys keys, fits a phone.

Usage: report_test.py HONE [FOLDER]; pictures of the pages go to FOLDER. Exits with 77 if there is no Chromium.
"""
import json
import os
import subprocess
import sys
import tempfile
import time

import devtools


def contrast(first, second):
    """Returns WCAG's contrast of two colours in the form that browsers write: rgb(1, 2, 3)."""
    def luminance(colour):
        parts = [int(p) / 255 for p in colour[colour.index("(") + 1:-1].split(",")[:3]]
        linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    a, b = sorted((luminance(first), luminance(second)), reverse=True)
    return (a + 0.05) / (b + 0.05)


def main():
    hone = os.path.abspath(sys.argv[1])
    kernel = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../honest/transpose_naive.cu")
    pictures = sys.argv[2] if len(sys.argv) > 2 else None
    program = devtools.find()
    if program is None:
        print("There is no Chromium on this machine; `apt-get install chromium` brings it. HONE_CHROMIUM names another one.")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        store = os.path.join(folder, "runs.sqlite")
        # The model answers only when the page follows the run, however long Chromium takes to start.
        model, followed = os.path.join(folder, "model.py"), os.path.join(folder, "followed")
        with open(model, "w", encoding="utf-8") as f:
            f.write(f"""
import os, time
while not os.path.exists({followed!r}):
    time.sleep(0.1)
print(open({kernel!r}).read())
""")
        run = subprocess.Popen([hone, "optimize", "transpose", "--device", "sim", "--model", f"exec:{sys.executable} {model}",
                                "--attempts", "1", "--no-seed-sweep", "--store", store],
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        server = None
        for _ in range(300):  # wait for the run's first event
            if run.poll() is not None:
                print("The run ended before it could be followed:", run.stderr.read())
                return 1
            if os.path.exists(store):
                server = subprocess.Popen([hone, "report", "last", "--serve", "--json", "--store", store], stdout=subprocess.PIPE,
                                          stderr=subprocess.DEVNULL, text=True)
                line = server.stdout.readline()
                if line:
                    break
            time.sleep(0.1)
        where = json.loads(line)
        browser = devtools.Browser(program)
        try:
            browser.open(where["url"])
            assert "token" not in browser.value("location.href"), "the token stays in the address bar"
            browser.until("document.getElementById('status').textContent.startsWith('Following')")
            browser.value("window.sameDocument = true")
            nodes = browser.value("document.querySelectorAll('details.node').length")
            browser.until("document.querySelectorAll('details.node').length > 0")
            browser.value("document.querySelector('details.node').open = true")
            open(followed, "w").close()
            browser.until("document.getElementById('status').textContent.startsWith('The run has ended')", 400)
            assert run.wait(60) == 1, run.stderr.read()  # status 1: nothing faster than the seed was found
            assert browser.value("window.sameDocument"), "the page was loaded anew"
            assert browser.value("document.querySelectorAll('details.node').length") > nodes
            assert browser.value("document.getElementById('node-0').open"), "an unfolded node was folded up"

            browser.value("document.activeElement.blur()")
            browser.key("j")
            browser.key("j")
            assert browser.value("document.activeElement.closest('details').id") == "node-1"
            browser.key("k")
            assert browser.value("document.activeElement.closest('details').id") == "node-0"
            browser.key("o")
            # A key pressed before the page's script has run would be lost, so the test waits for the whole page.
            browser.until("location.pathname === '/node/0' && document.readyState === 'complete'")
            assert browser.value("document.getElementById('source') !== null")
            browser.key("u")
            browser.until("location.pathname === '/' && document.readyState === 'complete'")
            assert browser.value("document.getElementById('kernel') !== null")

            pages = ["/", "/node/1", "/compare?all=1"]
            for page in pages:
                browser.open(f"http://127.0.0.1:{where['port']}{page}")
                for width in (360, 1280):
                    for dark in (False, True):
                        browser.look(width, 900, dark)
                        over = browser.value("document.documentElement.scrollWidth - window.innerWidth")
                        assert over <= 0, f"{page} is {over} pixels wider than a window of {width}"
                        style = "(name) => getComputedStyle(document.body)[name]"
                        least = contrast(browser.value(f"({style})('color')"), browser.value(f"({style})('backgroundColor')"))
                        assert least >= 7, f"{page}: the contrast of text is {least:.1f}"
                        if pictures:
                            name = page.strip("/").split("?")[0].replace("/", "-") or "report"
                            browser.picture(os.path.join(pictures, f"{name}-{width}-{'dark' if dark else 'light'}.png"))
            assert not browser.complaints, browser.complaints

            # Another site's page cannot read this one, and a visitor without the token cannot either.
            browser.call("Network.clearBrowserCookies")
            browser.open(f"http://127.0.0.1:{where['port']}/")
            assert "token" in browser.value("document.body.textContent")
            assert browser.value("document.querySelectorAll('details.node').length") == 0
        finally:
            browser.close()
            server.terminate()
            server.wait()
            if run.poll() is None:
                run.kill()
            run.wait()
    print("The page followed the run to its end; keys, widths, colour schemes and the token were checked.")
    return 0


sys.exit(main())
