"""A headless Chromium, asked by the DevTools protocol."""

import base64
import json
import os
import select
import subprocess
import time

PATIENCE = 120  # seconds for each answer; a browser that starts on a busy machine needs many
# Of each key the number that Windows has for it, and what it types.
KEYS = {"Tab": (9, ""), "Enter": (13, "\r"), "Escape": (27, ""), "Space": (32, " "), "End": (35, ""), "Home": (36, ""),
        "ArrowLeft": (37, ""), "ArrowRight": (39, ""), "ArrowDown": (40, "")}
SHIFT = 8


class BrowserFailed(Exception):
    """Chromium does not answer, or answers with an error."""


class Browser:
    """Speaks the DevTools protocol on the descriptors 3 and 4, where each message ends with a zero byte."""

    def __init__(self, profile):
        (theirs_in, self.to), (self.answers, theirs_out) = os.pipe(), os.pipe()
        self.process = subprocess.Popen(
            ["bash", "-c", f'exec "$@" 3<&{theirs_in} 4>&{theirs_out}', "bash", "chromium", "--headless=new",
             "--no-sandbox", "--remote-debugging-pipe", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
             "--no-first-run", "--disable-background-networking", "--lang=en-GB", "--accept-lang=en-GB",
             f"--user-data-dir={profile}", "about:blank"],
            pass_fds=(theirs_in, theirs_out), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        os.close(theirs_in)
        os.close(theirs_out)
        self.rest, self.number, self.session, self.events = b"", 0, {}, []
        target = self("Target.createTarget", url="about:blank")["targetId"]
        self.session = {"sessionId": self("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]}
        for domain in ("Page", "Runtime", "Network", "Log"):
            self(f"{domain}.enable")

    def close(self):
        self.process.terminate()
        self.process.wait()
        os.close(self.to)
        os.close(self.answers)

    def __call__(self, method, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters, **self.session}
        os.write(self.to, json.dumps(message).encode() + b"\0")
        while (answer := self.read()).get("id") != self.number:
            self.events.append(answer)
        if "error" in answer:
            raise BrowserFailed(f"{method}: {answer['error']['message']}")
        return answer["result"]

    def read(self):
        while b"\0" not in self.rest:
            ready, _, _ = select.select([self.answers], [], [], PATIENCE)
            part = os.read(self.answers, 1 << 20) if ready else b""
            if not part:
                raise BrowserFailed("chromium does not answer. Is it there? scripts/setup test")
            self.rest += part
        line, self.rest = self.rest.split(b"\0", 1)
        return json.loads(line)

    def value(self, expression):
        return self("Runtime.evaluate", expression=expression, returnByValue=True)["result"].get("value")

    def until(self, expression, patience=PATIENCE):
        """Looks again and again; what the expression was at last."""
        end = time.monotonic() + patience
        while True:
            try:
                found = self.value(expression)
            except BrowserFailed:
                # Another page has come in between, or the browser is gone.
                if self.process.poll() is not None:
                    raise
                found = None
            if found or time.monotonic() > end:
                return found
            time.sleep(0.05)

    def press(self, key, modifiers=0):
        code, text = KEYS[key]
        name = text if key == "Space" else key
        event = {"key": name, "code": key, "windowsVirtualKeyCode": code, "modifiers": modifiers}
        self("Input.dispatchKeyEvent", type="keyDown", **event, **({"text": text} if text else {}))
        self("Input.dispatchKeyEvent", type="keyUp", **event)

    def click(self, x, y):
        for kind in ("mouseMoved", "mousePressed", "mouseReleased"):
            self("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="none" if kind == "mouseMoved" else "left",
                 clickCount=0 if kind == "mouseMoved" else 1)

    def picture(self, path, **options):
        path.write_bytes(base64.b64decode(self("Page.captureScreenshot", format="png", **options)["data"]))
