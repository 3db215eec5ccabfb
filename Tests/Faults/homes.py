"""A small home with some of everything, and what can be told of it from outside: by its files and their SHA-256."""

import base64
import filecmp
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import time
from datetime import datetime, timedelta, timezone
from pathlib import Path

FIXTURES = Path(__file__).resolve().parent.parent / "Disk/PhotoFixtures"
TRIP = "Paris_France_2024-06-15_2024-06-16"
PHOTOS = {
    "Gallery/one.jpg": "orientation-3.jpg", "Gallery/two.jpg": "size-17x33.jpg",
    f"Vacations/{TRIP}/three.jpg": "size-16x16.jpg", f"Vacations/{TRIP}/four.jpg": "camera-offset.jpg",
    "Projects/p1.jpg": "size-77x1.jpg", "Projects/p2.jpg": "size-7x9.jpg"}
LATER = ("Gallery/five.jpg", "size-15x17.jpg")
# What the keys of catalogues, of notes and of claims of machines have in them: they are others after each pass.
OF_MACHINES = re.compile(r"/(catalog|machines|jobs)/|sync-agent-store\.json$")
EVENTS = "Pictures/Gallery/events.json"
PROJECTS = "Pictures/Projects/projects.json"
# Of each event its photo, and the words in it that must not go before the photo is archived.
OLD_EVENTS = {
    "ev-a": ("size-8x8.jpg", "words-of-a"), "ev-b": ("orientation-6.jpg", "words-of-b"), "ev-c": (None, "words-of-c")}
YOUNG_EVENTS = {"ev-d": ("size-1x77.jpg", "words-of-d")}


class Broken(Exception):
    """A promise that does not hold; its text says which."""


def prepared(trial, name, make):
    """What `make` makes. Where a promise breaks before there is any fault, the trial ends with that."""
    try:
        return make()
    except Broken as error:
        sys.exit(f"{trial}: without a fault, in {name}: {error}")


def flip(path):
    """A byte is another one, and nobody has written to the file."""
    stamp, data = path.stat(), bytearray(path.read_bytes())
    data[len(data) // 2] ^= 255
    path.write_bytes(data)
    os.utime(path, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))


def sha256(path):
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()


def files_below(folder):
    """{relative path: SHA-256} of all files."""
    folder = Path(folder)
    return {str(path.relative_to(folder)): sha256(path) for path in sorted(folder.rglob("*")) if path.is_file()}


def mirror(source, goal):
    """Makes `goal` what `source` is, and leaves alone what is equal by bytes, mode and time."""
    goal.mkdir(exist_ok=True)
    there = {entry.name: entry for entry in os.scandir(source)}
    for entry in list(os.scandir(goal)):
        wanted = there.get(entry.name)
        if wanted is None or wanted.is_dir() != entry.is_dir():
            shutil.rmtree(entry.path) if entry.is_dir(follow_symlinks=False) else os.unlink(entry.path)
    for name, entry in there.items():
        path = goal / name
        if entry.is_dir():
            mirror(Path(entry.path), path)
        elif not (path.exists() and same(entry.stat(), path.stat()) and filecmp.cmp(entry.path, path, shallow=False)):
            path.unlink(missing_ok=True)
            shutil.copy2(entry.path, path)
    shutil.copystat(source, goal)


def same(one, other):
    return (one.st_size, one.st_mtime_ns, one.st_mode) == (other.st_size, other.st_mtime_ns, other.st_mode)


class Home:
    """A home folder with a configuration, the embedded store, and a copy of all of it to begin each trial with."""

    # How the store is told of in the names of trials.
    mark = ""

    def __init__(self, slot, binary, more=""):
        self.slot, self.binary = Path(slot), str(binary)
        self.folder, self.prepared = self.slot / "home", self.slot / "prepared"
        self.pictures, self.store, self.out = self.folder / "Pictures", self.folder / "store", self.folder / "out"
        self.more = more
        self.environment = {
            "PATH": os.environ["PATH"], "HOME": str(self.folder), "XDG_STATE_HOME": str(self.folder / "state"),
            "SYNC_AGENT_CONFIG": str(self.folder / "config.yaml"), "LC_ALL": "C.UTF-8", "TZ": "UTC"}

    def store_settings(self):
        """The key `store` of the configuration."""
        return f"{{type: directory, path: {self.store}, restore_seconds: 0}}"

    def grow(self):
        """Writes the files of a home where nothing was stored yet."""
        self.folder.mkdir(parents=True)
        for name, fixture in PHOTOS.items():
            (self.pictures / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(FIXTURES / fixture, self.pictures / name)
        now = datetime.now(timezone.utc)
        events = []
        for days, some in ((120, OLD_EVENTS), (2, YOUNG_EVENTS)):
            for name, (photo, words) in some.items():
                data = base64.b64encode((FIXTURES / photo).read_bytes()).decode() if photo else None
                events.append({"id": name, "userId": "ana", "profileId": "grandpa", "eventType": "taskResponse",
                               "createdAt": (now - timedelta(days=days)).strftime("%Y-%m-%dT%H:%M:%SZ"), "text": words,
                               "photoData": data})
        (self.folder / EVENTS).write_text(json.dumps(events, indent=1))
        (self.folder / PROJECTS).write_text(json.dumps(
            [{"id": name, "templateId": f"t-{name}", "templateName": "Sketch", "createdAt": 1781000000 + 1000 * number,
              "status": "Completed", "requestId": f"r-{name}"} for number, name in enumerate(("p1", "p2"))], indent=1))
        (self.pictures / "Projects/p1-metadata.json").write_text('{"of": "p1"}')
        watch = "".join(f"  - {{kind: {name.lower()}, path: {self.pictures}/{name}}}\n"
                        for name in ("Gallery", "Vacations", "Projects"))
        (self.folder / "config.yaml").write_text(
            f"user: ana\nstore: {self.store_settings()}\nwatch:\n{watch}"
            f"upload: {{batch_size: 3, settle_seconds: 0}}\n{self.more}")
        os.chmod(self.folder / "config.yaml", 0o600)

    def keep(self):
        """What is there now is what each trial begins with."""
        shutil.rmtree(self.prepared, ignore_errors=True)
        mirror(self.folder, self.prepared)

    def begin(self):
        """Files that nobody has touched stay the same ones: the ledger knows a photo by its inode, too."""
        mirror(self.prepared, self.folder)
        (self.slot / "asked").unlink(missing_ok=True)

    def command(self, *words):
        return [self.binary, *map(str, words)]

    def ask(self, *words, accept=(0,)):
        """The answer to a command in which nothing goes wrong."""
        try:
            done = subprocess.run(self.command(*words), env=self.environment, stdin=subprocess.DEVNULL, timeout=240,
                                  capture_output=True, text=True, errors="replace")
        except subprocess.TimeoutExpired as error:
            raise Broken(f"without a fault, `{words[0]}` does not end in {error.timeout} s") from error
        said = done.stdout + done.stderr
        with open(self.slot / "asked", "a") as file:
            file.write(f"$ sync-agent {' '.join(map(str, words))}\n{said}ended with {done.returncode}\n\n")
        if done.returncode not in accept:
            said = " ".join(said.split())[-400:]
            raise Broken(f"without a fault, `{words[0]}` ends with {done.returncode}: {said}")
        return done.stdout

    # What the program says, and what is there.

    def status(self):
        """{path below Pictures: what `status --json` tells}; nothing before there is a ledger. Each photo of events is named by
        its object where `events.json` is gone."""
        told = json.loads(self.ask("status", self.pictures, "--json", accept=(0, 66)) or '{"files": []}')
        return {os.path.relpath(file["path"], self.pictures): file for file in told["files"]}

    def claims(self):
        """{path below Pictures: (state, key)}, as the program says."""
        return {name: (file["state"], file["key"]) for name, file in self.status().items()}

    def objects(self):
        """As `objects_below` has them."""
        return objects_below(self.store)

    def has(self, keys):
        """Whether bytes have come for all of them."""
        return all((self.store / "objects" / key).exists() for key in keys)

    def traces(self, key):
        """What is left of an object: of its bytes, of its record."""
        return [str(path.relative_to(self.store)) for path in
                (self.store / "objects" / key, self.store / f"records/{key}~.json") if path.exists()]

    def shared(self):
        """{key: bytes} of what a web server would hand out."""
        root = self.store / "objects"
        return {str(path.relative_to(root)): path.read_bytes() for path in (root / "shares").rglob("*") if path.is_file()}

    def rot(self, key):
        """One bit of an object is another one, and nobody has written to it."""
        flip(self.store / "objects" / key)

    def lose(self, key):
        """The bytes of an object are gone."""
        (self.store / "objects" / key).unlink()

    def freeze(self):
        """What the store archives by itself, it has archived."""

    def texts(self):
        """Which words of events are still in their file."""
        path = self.folder / EVENTS
        if not path.exists():
            return set()
        text = path.read_text()
        try:
            json.loads(text)
        except ValueError as error:
            raise Broken(f"events.json is no JSON any more: {error}") from error
        return {words for _, words in (*OLD_EVENTS.values(), *YOUNG_EVENTS.values()) if words in text}

    def texts_or_none(self):
        """The same while another process writes to it."""
        try:
            return self.texts()
        except (Broken, OSError):
            return set()

    def projects(self):
        """The ids that projects.json names."""
        path = self.folder / PROJECTS
        try:
            return {record["id"] for record in json.loads(path.read_text())}
        except FileNotFoundError as error:
            raise Broken("projects.json is gone") from error
        except ValueError as error:
            raise Broken(f"projects.json is no JSON any more: {error}") from error


def records_below(store):
    """All records of an embedded store, also while folders come and go, which ends Path.rglob."""
    return [Path(folder) / name for folder, _, names in os.walk(store / "records") for name in names if name.endswith("~.json")]


def objects_below(store):
    """{key: SHA-256} of what has both a record and bytes in an embedded store; the record names the file of the bytes.
    Catalogues, which are another one after each pass, are left out."""
    found = {}
    for path in records_below(store):
        try:
            record = json.loads(path.read_text())
            if not OF_MACHINES.search(record["key"]):
                found[record["key"]] = sha256(store / "objects" / record["file"])
        except (ValueError, KeyError, FileNotFoundError):
            continue
    return found


def wait_until(condition, seconds):
    """Looks 50 times a second; whether it came true."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True
