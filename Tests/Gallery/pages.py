"""Pages as a person meets them: what is shown is clicked on, and each page is judged."""

import re
import sys
import tempfile
import time
from pathlib import Path
from urllib.parse import urlsplit

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "Faults"))

from browser import PATIENCE, SHIFT, Browser
from homes import Broken

AUDIT = (Path(__file__).resolve().parent / "audit.js").read_text(encoding="utf-8")
LOOKS = [(width, scheme) for width in (390, 820, 1440) for scheme in ("light", "dark")]
NAMED = {"button", "checkbox", "combobox", "link", "listbox", "menuitem", "radio", "searchbox", "slider", "spinbutton",
         "switch", "textbox", "image", "ComboBoxSelect", "ProgressIndicator", "progressbar", "PopUpButton", "DisclosureTriangle"}
# Finds what can be clicked on by the words that a person sees, or, without any, hears.
FIND = """((words, selector) => {
    const said = e => (e.innerText || '').trim() || e.getAttribute('aria-label') || e.value || '';
    const found = [...document.querySelectorAll(selector)].find(e => e.checkVisibility() && said(e).trim() === words);
    if (!found) return null;
    found.scrollIntoView({block: 'center', behavior: 'instant'});
    const box = found.getClientRects()[0];
    const [x, y] = [box.left + box.width / 2, box.top + box.height / 2];
    const top = document.elementFromPoint(x, y);
    return {x, y, covered: !top || !(found.contains(top) || top.contains(found))};
})"""
ALL_LOADED = """(() => {
    if (document.readyState !== 'complete') return false;
    for (const image of document.images) image.loading = 'eager';
    return [...document.images].every(i => i.complete);
})()"""


class Person:
    """Somebody with a browser and a profile of their own."""

    def __init__(self, name, out, width=1440, scripts=True):
        self.name, self.out, self.width = name, out, width
        self.folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self.browser = Browser(Path(self.folder.name) / "profile")
        self.wrong, self.pages, self.looks, self.origin = [], [], 0, None
        # Statuses of answers that are meant to be, by the beginning of their path.
        self.expected = {}
        self.browser("Accessibility.enable")
        if not scripts:
            self.browser("Emulation.setScriptExecutionDisabled", value=True)
        self.size(width, "light")

    def close(self):
        self.browser.close()
        self.folder.cleanup()

    def size(self, width, scheme):
        self.browser("Emulation.setDeviceMetricsOverride", width=width, height=1000, deviceScaleFactor=1,
                     mobile=width < 600)
        self.browser("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    # Going from page to page.

    def leads(self, act, what):
        """Does it, and waits for another document."""
        before = self.browser.value("performance.timeOrigin")
        act()
        if not self.browser.until(f"performance.timeOrigin !== {before} && document.readyState === 'complete'"):
            raise Broken(f"{self.name}: {what} leads nowhere")

    def visit(self, address):
        self.origin = urlsplit(address)[:2]
        self.leads(lambda: self.browser("Page.navigate", url=address), "an address")

    def reload(self):
        self.leads(lambda: self.browser("Page.reload"), "a reload")

    def back(self):
        """The browser's own button."""
        history = self.browser("Page.getNavigationHistory")
        entry = history["entries"][history["currentIndex"] - 1]
        self.browser("Page.navigateToHistoryEntry", entryId=entry["id"])
        self.require(f"location.href === {entry['url']!r} && document.readyState === 'complete'", "back")

    def click(self, words, selector="a, button, input, label"):
        found = self.browser.value(f"{FIND}({words!r}, {selector!r})")
        if not found:
            raise Broken(f"{self.name}: there is no {words!r} on {self.where()}")
        if found["covered"]:
            self.wrong.append(f"{self.where()}: something lies over {words!r}")
        self.browser.click(found["x"], found["y"])

    def follow(self, words, selector="a, button"):
        self.leads(lambda: self.click(words, selector), repr(words))

    def point(self, expression):
        """Clicks on an element that an expression gives."""
        box = self.browser.value(f"(() => {{ const e = {expression}; if (!e) return null;"
                                 "e.scrollIntoView({block: 'center', behavior: 'instant'});"
                                 "const b = e.getBoundingClientRect(); return [b.left + b.width / 2, b.top + b.height / 2] })()")
        if not box:
            raise Broken(f"{self.name}: there is nothing to click on at {self.where()}")
        self.browser.click(*box)

    def type(self, text):
        self.browser("Input.insertText", text=text)

    def tab_to(self, name, limit=60):
        """By the keyboard alone: the field of this name has the focus, and shows that it has."""
        for _ in range(limit):
            self.browser.press("Tab")
            if self.browser.value(f"document.activeElement.name === {name!r}"):
                if not self.browser.value("document.activeElement.matches(':focus-visible') && "
                                          "getComputedStyle(document.activeElement).outlineStyle !== 'none'"):
                    self.wrong.append(f"{self.where()}: {name} has the focus and does not show it")
                return
        raise Broken(f"{self.name}: {limit} times Tab do not reach {name} on {self.where()}")

    def tab_back(self):
        self.browser.press("Tab", SHIFT)

    # Looking.

    def where(self):
        return self.browser.value("location.pathname + location.search") or "a page"

    def text(self):
        return self.browser.value("document.body.innerText") or ""

    def main(self):
        return self.browser.value("document.querySelector('main')?.innerText") or ""

    def require(self, expression, what, patience=PATIENCE):
        if not self.browser.until(expression, patience):
            said = " ".join(self.text().split())[:300]
            raise Broken(f"{self.name}: {what} is not so on {self.where()}, which says: {said}")

    def reload_until(self, expression, what, seconds=PATIENCE):
        """Seconds that it took."""
        began = time.monotonic()
        while not self.browser.value(f"Boolean({expression})"):
            if time.monotonic() > began + seconds:
                self.require("false", f"{what} within {seconds} s", 0)
            time.sleep(0.1)
            self.reload()
        return time.monotonic() - began

    def judge(self, page, looks=None):
        """Looks at what is shown, at each width and in each scheme, and at what came of it in the browser."""
        for width, scheme in looks or LOOKS:
            self.size(width, scheme)
            if not self.browser.until(ALL_LOADED, 30):
                self.wrong.append(f"{page}, {width}: images do not come")
            wrong = self.browser.value(AUDIT)
            if wrong is None:
                raise Broken(f"{page}: the audit itself fails")
            self.wrong += [f"{page}, {width} {scheme}: {words}" for words in wrong]
            self.looks += 1
            if self.out:
                self.browser.picture(self.out / f"{page}-{width}-{scheme}.png", captureBeyondViewport=True,
                                     clip={"x": 0, "y": 0, "width": width, "height": self.height(), "scale": 1})
        self.size(self.width, "light")
        self.names(page)
        self.pages.append(page)
        self.hear(page)

    def height(self):
        return min(max(self.browser.value("document.documentElement.scrollHeight"), 1000), 3000)

    def names(self, page):
        for node in self.browser("Accessibility.getFullAXTree")["nodes"]:
            role = node.get("role", {}).get("value")
            if not node.get("ignored") and role in NAMED and not node.get("name", {}).get("value", "").strip():
                self.wrong.append(f"{page}: a {role} has no name")

    def hear(self, page):
        """What the browser complained of since it was asked last, and requests that went elsewhere."""
        events, self.browser.events = self.browser.events, []
        for event in events:
            told = event.get("params", {})
            match event.get("method"):
                case "Runtime.exceptionThrown":
                    told = told["exceptionDetails"]
                    self.wrong.append(f"{page}: {told.get('exception', {}).get('description', told['text'])}")
                case "Runtime.consoleAPICalled" if told["type"] in ("error", "warning", "assert"):
                    self.wrong.append(f"{page}: console.{told['type']}: {told['args']}")
                # Statuses are looked at below.
                case "Log.entryAdded" if told["entry"]["level"] in ("error", "warning") and told["entry"]["source"] != "network":
                    self.wrong.append(f"{page}: {told['entry']['text']}")
                case "Network.requestWillBeSent":
                    asked = told["request"]["url"]
                    if not asked.startswith(("blob:", "data:", "about:")) and urlsplit(asked)[:2] != self.origin:
                        self.wrong.append(f"{page}: a request went elsewhere: {asked}")
                case "Network.responseReceived" if told["response"]["status"] >= 400:
                    path, status = urlsplit(told["response"]["url"]).path, told["response"]["status"]
                    # Of an image alone the browser asks for one by itself.
                    if path != "/favicon.ico" and not any(path.startswith(start) and status in allowed for start, allowed in self.expected.items()):
                        self.wrong.append(f"{page}: {path} is answered with {status}")
                case "Network.loadingFailed" if not told.get("canceled") and told["errorText"] != "net::ERR_ABORTED":
                    self.wrong.append(f"{page}: something cannot be loaded: {told['errorText']}")

    def keep(self, name):
        """What was seen when it went wrong."""
        if self.out:
            self.browser.picture(self.out / f"{name}.png")


def plain(text):
    return re.sub(r"\s+", " ", text).strip()


def grouped(wrong):
    """What is the same in several places, once: lines."""
    places = {}
    for place, _, words in (text.partition(": ") for text in wrong):
        places.setdefault(words, {})[place] = None
    return [f"{words} [{', '.join(list(found)[:6])}{f' and {len(found) - 6} more' if len(found) > 6 else ''}]"
            for words, found in places.items()]
