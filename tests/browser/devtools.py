# SPDX-FileCopyrightText: 2026 The Hone Authors
# SPDX-License-Identifier: Apache-2.0
"""Drives Chromium without a window, over the pipe of its DevTools protocol. Needs only Python's standard library."""
import json
import os
import select
import shutil
import subprocess
import tempfile
import time


def find():
    """Returns the path of a Chromium or Chrome on this machine, or None."""
    for name in (os.environ.get("HONE_CHROMIUM", ""), "chromium", "chromium-browser", "google-chrome"):
        path = name and shutil.which(name)
        if path:
            return path
    return None


class Browser:
    """One page in one browser. `complaints` collects the messages of its console and of its security policy."""

    def __init__(self, program):
        self.profile = tempfile.mkdtemp(prefix="hone-browser-")
        browser_input, self.out = os.pipe()
        self.back, browser_output = os.pipe()

        def pipes():
            # The protocol's pipe is descriptors 3 and 4 by convention. Both ends are first copied to other numbers.
            a, b = os.dup(browser_input), os.dup(browser_output)
            os.dup2(a, 3)
            os.dup2(b, 4)

        self.process = subprocess.Popen(
            [program, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
             "--disable-extensions", "--disable-background-networking", "--user-data-dir=" + self.profile,
             "--remote-debugging-pipe", "about:blank"],
            preexec_fn=pipes, close_fds=False, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(browser_input)
        os.close(browser_output)
        self.number, self.buffer, self.complaints, self.session = 0, b"", [], None
        target = next(t for t in self.call("Target.getTargets")["targetInfos"] if t["type"] == "page")
        self.session = self.call("Target.attachToTarget", targetId=target["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.call(domain + ".enable")

    def _receive(self, deadline):
        while b"\0" not in self.buffer:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self.back], [], [], left)[0]:
                raise TimeoutError("the browser did not answer in time")
            part = os.read(self.back, 1 << 16)
            if not part:
                raise EOFError("the browser has ended")
            self.buffer += part
        text, self.buffer = self.buffer.split(b"\0", 1)
        message = json.loads(text)
        if message.get("method") == "Log.entryAdded":
            self.complaints.append(message["params"]["entry"]["text"])
        if message.get("method") == "Runtime.exceptionThrown":
            self.complaints.append(str(message["params"]["exceptionDetails"].get("exception", {}).get("description")))
        return message

    def call(self, method, seconds=60, **params):
        self.number += 1
        request = {"id": self.number, "method": method, "params": params}
        if self.session:
            request["sessionId"] = self.session
        os.write(self.out, json.dumps(request).encode() + b"\0")
        deadline = time.monotonic() + seconds
        while True:
            message = self._receive(deadline)
            if message.get("id") == self.number:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']['message']}")
                return message["result"]

    def open(self, url):
        self.call("Page.navigate", url=url)
        self.until("document.readyState === 'complete'")

    def value(self, expression):
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(f"{expression}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def until(self, expression, seconds=60):
        """Waits until the expression is true in the page."""
        deadline = time.monotonic() + seconds
        while not self.value(expression):
            if time.monotonic() > deadline:
                raise TimeoutError(f"the page did not come to: {expression}")
            time.sleep(0.1)

    def key(self, key):
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, text=key if kind == "keyDown" else "")

    def look(self, width, height, dark):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 500)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])

    def picture(self, path):
        import base64
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"]))

    def close(self):
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self.out)
        os.close(self.back)
        shutil.rmtree(self.profile, ignore_errors=True)
