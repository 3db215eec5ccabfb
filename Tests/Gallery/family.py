"""What a family does with the gallery, from the first link to signing out, clicking on what its pages show."""

import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "Faults"))

from homes import FIXTURES, TRIP, Broken, Home, wait_until
from pages import LOOKS, Person, plain
from servers import environment_of, free_port

SETTLE = 1  # seconds
# Beside the small ones of `Home`.
MORE = {
    "Gallery/2023/Sea.jpg": "camera-canon.jpg", "Gallery/2023/Sea, turned.jpg": "orientation-6.jpg",
    "Gallery/A longer name, as telephones do not make them, with an & and an ü, of a friend's photo.jpg": "camera-nikon.jpg",
    "Gallery/Drawing.png": "kinds/turned.png", "Gallery/Phone.heic": "kinds/plain.heic", "Gallery/Film.mp4": "films/portrait.mp4",
    "Gallery/broken.jpg": None,
    f"Vacations/{TRIP}/a.jpg": "camera-iphone.jpg", f"Vacations/{TRIP}/b.jpg": "orientation-5.jpg",
    f"Vacations/{TRIP}/c.jpg": "camera-profile.jpg"}
DROPPED = ("coding-progressive.jpg", "coding-optimized.jpg", "coding-restart-rows.jpg", "sampling-4x1.jpg")
GUEST = "orientation-3.jpg"
IMAGES = "[...document.querySelectorAll('main img')]"


class FamilyHome(Home):
    """A home whose agent shows the gallery, on a port that stays."""

    def __init__(self, slot, binary, bucket=None, more="", listen=None):
        self.port, self.bucket, self.agent = free_port(), bucket, None
        super().__init__(
            slot, binary,
            f"serve: {{enabled: true, listen: '{listen or '127.0.0.1'}:{self.port}', base_url: 'http://127.0.0.1:{self.port}'}}\n"
            f"tiers: {{mode: agent, archive_after_days: 0, minimum_archive_bytes: 0}}\nrestore: {{poll_minutes: 1}}\n{more}")
        if bucket:
            self.environment |= environment_of(bucket.server)

    def store_settings(self):
        if self.bucket:
            return (f"{{type: s3, bucket: {self.bucket.name}, endpoint: 'http://127.0.0.1:{self.bucket.server.port}', "
                    f"region: us-east-1, addressing: path}}")
        return f"{{type: directory, path: {self.store}, restore_seconds: 2}}"

    def grow(self, more=MORE):
        super().grow()
        for name, fixture in more.items():
            path = self.pictures / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes((FIXTURES / fixture).read_bytes() if fixture else b"\xff\xd8\xff and no picture")
        config = self.folder / "config.yaml"
        config.write_text(config.read_text().replace("settle_seconds: 0", f"settle_seconds: {SETTLE}"))

    @property
    def said(self):
        return self.slot / "agent.log"

    def start(self, *words):
        """Until it watches, or shows. Its address, which opens once."""
        link = self.folder / "state/sync-agent/gallery.url"
        link.unlink(missing_ok=True)
        with open(self.said, "ab") as said:
            start = said.tell()
            self.agent = subprocess.Popen(self.command(*(words or ("run",))), env=self.environment, stdin=subprocess.DEVNULL,
                                          stdout=said, stderr=said)

        def is_ready():
            text = self.said.read_bytes()[start:].decode(errors="replace")
            found = re.search(r"http://\S+token=\S+", text)
            return found and found[0] or "watching" in text and link.exists() and link.read_text().strip()

        if not wait_until(lambda: self.agent.poll() is not None or is_ready(), 240) or self.agent.poll() is not None:
            raise Broken(f"the gallery is not shown: {self.said.read_text(errors='replace')[-400:]}")
        return is_ready()

    def end(self, signal_number=signal.SIGTERM):
        if self.agent and self.agent.poll() is None:
            self.agent.send_signal(signal_number)
            self.agent.wait(120)
        return self.agent and self.agent.returncode

    def drop(self, fixture, name):
        """As another program does it that moves what is whole into a folder."""
        path = self.pictures / name
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(FIXTURES / fixture, path)
        return path


class Visit:
    """One walk through everything, by a browser with scripts or without."""

    def __init__(self, home, out, number, scripts, short=False):
        """`short`: fewer looks at each page, no screenshot, and no bound in seconds for a photo to be shown."""
        self.home, self.number, self.scripts, self.patient = home, number, scripts, not short
        looks = LOOKS[:1] if not scripts else [LOOKS[0], LOOKS[-1]] if short else LOOKS
        self.out, self.looks, self.times = out, looks, {}
        width, shots = 1440 if scripts else 390, None if short else out
        self.person = Person("family", shots, width, scripts)
        self.stranger = Person("stranger", shots, width, scripts)

    @property
    def pages(self):
        return self.person.pages + self.stranger.pages

    def keep(self):
        self.person.keep("failed")
        self.stranger.keep("failed-stranger")

    def close(self):
        self.person.close()
        self.stranger.close()

    @property
    def wrong(self):
        return self.person.wrong + self.stranger.wrong

    def judge(self, page, person=None):
        (person or self.person).judge(page, self.looks)

    def tab(self, name):
        self.person.follow(name, "nav a")

    def walk(self, link):
        self.come_in(link)
        self.drop_and_open()
        self.share_and_take_back()
        self.archive()
        self.filter_by_keyboard()
        self.bring_back()
        self.go_round()
        self.go()

    def come_in(self, link):
        person, stranger = self.person, self.stranger
        stranger.expected = {"/": {401}}
        stranger.visit(link.split("?")[0])
        self.nothing_is_shown(stranger)
        self.judge("not-signed-in", stranger)
        person.visit(link)
        person.require("location.search === ''", "an address without the token")
        stranger.visit(link)
        stranger.require("document.querySelector('h1').innerText.includes('used already')", "a link that is used up")
        self.judge("used-link", stranger)
        stranger.expected = {}

    def drop_and_open(self):
        person, fixture = self.person, DROPPED[self.number]
        name = f"Dropped {self.number}.jpg"
        path = self.home.drop(fixture, f"Gallery/{name}")
        photo = f"[...document.querySelectorAll('#stream a')].find(a => a.getAttribute('aria-label').includes({name!r}))"
        waited = self.times["a photo is shown"] = person.reload_until(photo, name, 120)
        if self.patient and waited > SETTLE + 2:
            person.wrong.append(f"photos: what was dropped is shown after {waited:.1f} s, and not within {SETTLE + 2} s")
        self.judge("photos")
        person.leads(lambda: person.point(photo), "a photo")
        person.require("document.querySelector('figure img')?.naturalWidth", "the photo, large")
        self.judge("photo")
        saved = self.out / "downloads"
        shutil.rmtree(saved, ignore_errors=True)
        person.browser("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(saved.resolve()))
        person.click("Download", "a")
        if not wait_until(lambda: (saved / name).exists() and (saved / name).read_bytes() == path.read_bytes(), 60):
            person.wrong.append(f"photo: a download of {name} is not the file that was dropped")
        person.hear("photo")
        person.back()
        for label in ("Film.mp4", "Phone.heic"):
            person.leads(lambda: person.point(
                f"[...document.querySelectorAll('#stream a')].find(a => a.getAttribute('aria-label').includes({label!r}))"),
                label)
            person.require("[...document.querySelectorAll('figure img, figure video')].some(e => e.naturalWidth || e.videoWidth)",
                           f"a picture of {label}", 60)
            self.judge(label.split(".")[0].lower())
            person.back()

        for label in ("p1.jpg", "taskResponse, ev-d"):
            path = person.browser.value(f"[...document.querySelectorAll('#stream a')].find(a => "
                                        f"a.getAttribute('aria-label').includes({label!r}))?.pathname")
            person.leads(lambda: person.point(f"document.querySelector(`#stream a[href='{path}']`)"), label)
            if "Stored copy" not in person.text():
                person.wrong.append(f"photos: a click on {label} shows: {plain(person.main())[:100]}")
            person.hear(label)
            person.back()

    def share_and_take_back(self):
        person, stranger = self.person, self.stranger
        self.tab("Vacations")
        self.judge("vacations")
        person.follow("Share", "main a")
        picks = "[...document.querySelectorAll('.choose input')]"
        count = person.browser.value(f"{picks}.length")
        if person.browser.value(f"{picks}.filter(p => p.checked).length") != count or count < 4:
            person.wrong.append(f"share-form: not all of {count} photos are chosen at first")
        person.point(f"{picks}.at(-1)")
        person.require(f"!{picks}.at(-1).checked", "a photo that is not chosen any more")
        person.point("document.querySelector('[name=by]')")
        person.browser.value("document.activeElement.select()")
        person.type("Ana & Ben")
        person.point("document.querySelector('[name=guests]')")
        chosen = person.browser.value(f"{picks}.filter(p => p.checked).map(p => p.getAttribute('aria-label').slice(6))")
        self.judge("share-form")
        person.follow("Share", "main button")
        self.times["a share is live"] = person.reload_until("document.getElementById('link')", "the link of a share")
        self.judge("share")
        link = person.browser.value("new URL(document.getElementById('link').value, location.href).href")
        stranger.visit(link)
        # A photo is known by its shape: no two of the vacation have the same.
        expected = sorted(self.sizes(chosen))
        shown = stranger.browser.value("[...document.querySelectorAll('#photos a')].map(a => [+a.dataset.width, +a.dataset.height])")
        self.shared = len(shown)
        if sorted(map(tuple, shown)) != expected:
            stranger.wrong.append(f"the share shows photos of {sorted(map(tuple, shown))}, and {expected} were chosen")
        if "Ana & Ben" not in stranger.text():
            stranger.wrong.append("the share does not say who it is from")
        self.judge("shared", stranger)
        first = stranger.browser.value("document.querySelector('#photos a').href")
        if self.scripts:
            stranger.point("document.querySelector('#photos img')")
            stranger.require("picture.complete && picture.naturalWidth", "a shared photo, large")
            stranger.browser.press("Escape")
        else:
            stranger.leads(lambda: stranger.point("document.querySelector('#photos img')"), "a shared photo")
            stranger.require("document.images[0]?.naturalWidth", "a shared photo, large")
        stranger.hear("shared")
        if self.scripts:
            self.add_as_guest(link)
        person.follow("Stop sharing", "main button")
        person.reload_until("document.querySelector('main').innerText.includes('taken back')", "a share that is taken back")
        self.judge("share-ended")
        if person.browser.value("Boolean(document.getElementById('link'))"):
            person.wrong.append("share-ended: the link is still shown")
        stranger.expected = {"/": {403, 404}}
        for address in (link, first):
            stranger.visit(address)
            if stranger.browser.value("[...document.images].some(i => i.naturalWidth)") or "Ana" in stranger.text():
                stranger.wrong.append(f"after the end of the share {address} still shows something")
        if not self.home.bucket:
            stranger.visit(link)
            self.judge("shared-ended", stranger)
        stranger.hear("shared-ended")
        stranger.expected = {}
        self.tab("Shares")
        self.judge("shares")

    def add_as_guest(self, link):
        """Somebody who has the link adds a photo, which nobody else sees before the owner keeps it."""
        person, stranger = self.person, self.stranger
        photo, other = FIXTURES / GUEST, self.home.slot / "no-photo.txt"
        other.write_text("no photo")
        stranger.visit(link)
        # The page asks which place is free.
        stranger.expected = {"/": {403, 404}}
        began = time.monotonic()
        field = stranger.browser("Runtime.evaluate", expression="document.getElementById('guest-files')")["result"]["objectId"]
        stranger.browser("DOM.setFileInputFiles", files=[str(photo), str(other)], objectId=field)
        words = "document.getElementById('guests').innerText"
        stranger.require(f"{words}.includes('1 photo has arrived') && {words}.includes('1 file is no photo')", "a photo that is sent")
        self.judge("shared-guests", stranger)
        stranger.expected = {}
        stranger.visit(link)
        if stranger.browser.value("document.querySelectorAll('#photos a').length") != self.shared:
            stranger.wrong.append("what a guest has sent is shown before the owner has kept it")
        person.reload_until(f"({IMAGES}).some(i => i.src.includes('/guests/') && i.naturalWidth)", "a guest's photo")
        self.times["a guest's photo is with the owner"] = time.monotonic() - began
        self.judge("share-guests")
        person.follow("Keep what is ticked", "main button")
        kept = list((self.home.pictures / f"Vacations/{TRIP}").glob("guest-*.jpg"))
        if [path.read_bytes() for path in kept] != [photo.read_bytes()]:
            person.wrong.append(f"share-guests: the photo is not as the guest has sent it: {kept}")
        if "From guests" in person.main():
            person.wrong.append("share-guests: what is kept is still asked for")

    def sizes(self, names):
        """As `ledger` would have it, and here by the files themselves: as they are shown, none larger than 2048."""
        for name in names:
            path = self.home.pictures / "Vacations" / TRIP / name
            told = subprocess.run(["exiftool", "-s3", "-ImageWidth", "-ImageHeight", "-n", "-Orientation", str(path)],
                                  capture_output=True, text=True, check=True).stdout.split()
            width, height = int(told[0]), int(told[1])
            yield (height, width) if len(told) > 2 and int(told[2]) > 4 else (width, height)

    def archive(self):
        """The machine is switched off and on again; with its first pass all goes to the archive. Nobody is signed out."""
        if (code := self.home.end()) != 0:
            self.person.wrong.append(f"asked to stop, the agent ends with {code}")
        for path in (self.home.pictures / f"Gallery/Dropped {self.number}.jpg",
                     *(self.home.pictures / "Vacations" / TRIP).iterdir()):
            path.unlink()
        self.home.start()
        self.tab("Photos")
        self.person.reload_until(
            f"[...document.querySelectorAll('#stream a')].some(a => a.getAttribute('aria-label').includes('Dropped {self.number}')"
            " && a.querySelector('.badge')?.textContent === '❄️')", "a photo in the archive")
        self.judge("photos-archived")

    def filter_by_keyboard(self):
        person = self.person
        self.tab("Photos")
        person.tab_to("state")
        before = person.browser.value("performance.timeOrigin")
        for steps in range(9):
            if person.browser.value("document.activeElement.value") == "archived":
                break
            person.browser.press("ArrowDown")
            time.sleep(0.3)
            person.browser.until("document.readyState === 'complete'")
            if person.browser.value("performance.timeOrigin") != before:
                person.wrong.append(f"photos: by the keyboard the filter of states cannot be brought to the second of its choices: "
                                    f"arrow {steps + 1} sends it off ({person.where()})")
                self.tab("Photos")
                break
        else:
            raise Broken("the filter of states has no archived")
        person.tab_to("q")
        person.type(f"dropped {self.number}")
        if self.scripts:
            person.leads(lambda: person.browser.press("Enter"), "Enter")
        else:
            person.browser.press("Tab")
            person.leads(lambda: person.browser.press("Space"), "the button, by the space bar")
        labels = person.browser.value("[...document.querySelectorAll('#stream a')].map(a => a.getAttribute('aria-label'))")
        if len(labels) != 1 or f"Dropped {self.number}" not in labels[0]:
            person.wrong.append(f"photos: a filter shows {labels}")
        self.judge("filtered")
        person.follow("Show all", "main a")
        person.tab_to("q")
        person.type("no photo has this name")
        person.leads(lambda: person.browser.press("Enter"), "Enter")
        if "No photos match." not in person.text():
            person.wrong.append("photos: a filter that matches nothing does not say so")
        self.judge("no-match")

    def bring_back(self):
        person = self.person
        self.tab("Photos")
        person.leads(lambda: person.point(
            f"[...document.querySelectorAll('#stream a')].find(a => a.getAttribute('aria-label').includes('Dropped {self.number}'))"),
            "an archived photo")
        if not person.browser.value("document.querySelector('figure img')?.naturalWidth"):
            person.wrong.append("archived: no small picture of it is shown")
        self.judge("archived")
        person.follow("Bring it back", "main a")
        rows = person.browser.value("[...document.querySelectorAll('.tiers tbody tr')].map(r => [...r.cells].map(c => c.innerText))")
        if not rows or any(len(row) != 3 or not all(map(str.strip, row)) for row in rows):
            person.wrong.append(f"offer: price and time of each tier are not told: {rows}")
        self.judge("offer")
        person.follow("Bring them back", "main button")
        if not person.where().startswith("/restores"):
            person.wrong.append(f"offer: an order leads to {person.where()}")
        self.judge("restores-begun")
        self.times["a photo is back"] = person.reload_until(
            "document.querySelector('.cards li .state')?.innerText === 'available'", "a restore that is available", 180)
        self.judge("restores")
        self.tab("Photos")
        person.leads(lambda: person.point(
            f"[...document.querySelectorAll('#stream a')].find(a => a.getAttribute('aria-label').includes('Dropped {self.number}'))"),
            "a restored photo")
        if "restored" not in person.text():
            person.wrong.append("restored: its page does not say that it is restored")
        person.require("document.querySelector('figure img')?.naturalWidth > 0", "a restored photo, large", 60)
        self.judge("restored")

    def go_round(self):
        person = self.person
        self.tab("Projects")
        self.judge("projects")
        person.leads(lambda: person.point("document.querySelector('.cards h2 a')"), "a project")
        self.judge("project")
        self.tab("Archive")
        if not person.browser.value("document.querySelectorAll('#stream a').length"):
            person.wrong.append("archive: the archived photos of events are not shown")
        self.judge("archive")
        self.tab("Status")
        self.judge("status")
        # The photos of the vacation are in the archive alone: what sharing it costs is shown before it is asked for.
        self.tab("Vacations")
        self.judge("vacations-archived")
        person.follow("Share", "main a")
        person.follow("Share", "main button")
        if "to come back from the archive first" not in person.main():
            person.wrong.append(f"share-archived: it does not say what comes back first: {plain(person.main())[:200]}")
        self.judge("share-archived")
        person.follow("Bring back and share", "main button")
        self.judge("share-waiting")
        if self.patient:
            self.times["an archived vacation is shared"] = person.reload_until(
                "document.getElementById('link')", "the link of a share", 180)

    def go(self):
        person = self.person
        person.expected = {"/": {401}}
        person.follow("Sign out", "button")
        self.nothing_is_shown(person)
        self.judge("signed-out")
        person.back()
        self.nothing_is_shown(person)
        person.reload()
        self.nothing_is_shown(person)
        person.hear("signed-out")

    def nothing_is_shown(self, person):
        if person.browser.value(f"{IMAGES}.length") or any(f"Dropped {n}" in person.text() for n in range(4)):
            person.wrong.append(f"{person.name}: {person.where()} shows photos to who is not signed in")
