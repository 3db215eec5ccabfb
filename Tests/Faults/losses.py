"""A life of a home whose disk is lost at its end, and what must be brought back from the store alone."""

import base64
import json
import os
import random
import shutil
import subprocess
from collections import Counter
from contextlib import contextmanager
from datetime import datetime, timedelta, timezone
from hashlib import md5

from homes import FIXTURES, Broken, Home, files_below
from injection import Point
from peers import numbered
from proxy import Proxy
from remote import RemoteHome, Run

TRIPS = ("Paris_France_2024-06-15_2024-06-16", "Rome_Italy_2023-05-01_2023-05-03")
# Below Pictures; two have the same last name.
FOLDERS = {"Gallery": "gallery", "Phone/Gallery": "gallery", "Vacations": "vacations", "Projects": "projects"}
ODD = ("caf\u00e9", "cafe\u0301", " two  blanks ", "line\nbreak", "back\\slash", "*?[x]", "\udcff\udcfe", "-n", "\U0001f4f7")
ARCHIVING = "tiers: {mode: agent, archive_after_days: 0, minimum_archive_bytes: 0}\n"
KILLED_AT = ("renameat2", "linkat", "unlinkat", "fsync", "pwrite64", "write", "openat")

# How many passes of a life have one new photo.
LITTLE = 2

# What the keys of catalogues have in them.
CATALOGUE = "/catalog/"


class KillingProxy(Proxy):
    """Kills who asks for the catalogue: at the n-th such request, before or after the store has seen it."""

    left, after, victim, killed = 0, False, None, False

    def arm(self, number, after, words=CATALOGUE):
        self.left, self.after, self.words, self.killed, self.victim = number, after, words, False, None

    async def hand_on(self, request, body=None):
        hit = False
        if self.left and self.victim and (self.words in request.target or self.words in request.target.replace("%2F", "/")):
            self.left -= 1
            hit = not self.left
        if hit and not self.after:
            self.strike()
        answer = await super().hand_on(request, body)
        if hit and self.after:
            self.strike()
        return answer

    def strike(self):
        self.victim.kill()
        self.killed = True


class Losable:
    """What both homes have in common: the folders, and a configuration that changes."""

    machine = "one"

    def write(self, more=""):
        watch = "".join(f"  - {{kind: {kind}, path: '{self.pictures}/{name}'}}\n" for name, kind in FOLDERS.items())
        path = self.folder / "config.yaml"
        path.write_text(f"user: ana\nmachine: {{name: {self.machine}}}\nstore: {self.store_settings()}\nwatch:\n{watch}"
                        f"upload: {{batch_size: 16, settle_seconds: 0}}\nshare: {{max_photos: 1000}}\n{more}")
        path.chmod(0o600)

    def grow(self):
        for name in FOLDERS:
            (self.pictures / name).mkdir(parents=True)
        self.write()

    @contextmanager
    def with_state(self, folder):
        """As if it were another machine, with the same configuration, that has this state."""
        own = self.environment
        self.environment = own | {"XDG_STATE_HOME": str(folder)}
        try:
            yield
        finally:
            self.environment = own


class DiskHome(Losable, Home):
    def classes(self):
        return {}

    def kill(self, draw, words):
        point = Point(draw.choice(KILLED_AT), "KILL", draw.randint(1, 60))
        done = subprocess.run(point.wrap(self.command(*words), self.slot / "strace.log", (), str(self.folder)),
                              env=self.environment, stdin=subprocess.DEVNULL, capture_output=True, timeout=600)
        return done.returncode in (-9, 137)


class BucketHome(Losable, RemoteHome):
    def classes(self):
        return {key: kind or "STANDARD" for key, (_, _, kind) in self.bucket.listing().items()}

    def objects(self):
        return self.bucket.objects()

    def shared(self):
        return {key: b"" for key in self.bucket.listing() if key.startswith("shares/")}

    def kill(self, draw, words):
        # Half of them anywhere, half of them at the catalogue.
        anywhere = draw.random() < 0.5
        self.proxy.arm(draw.randint(1, 30 if anywhere else 4), draw.random() < 0.5, "/" if anywhere else CATALOGUE)

        def drive(process):
            self.proxy.victim = process
            return False

        Run(self, words, drive)
        self.proxy.arm(0, False)
        return self.proxy.killed or self.proxy.victim is None


class CountedHome(BucketHome):
    """A home with a catalogue or without, whose requests are counted."""

    # Dollars for 1,000 requests, us-east-1, 2026-07; a delete costs nothing.
    PRICES = {"put": 0.005, "copy": 0.005, "list": 0.005, "get": 0.0004, "head": 0.0004, "delete": 0, "delete-many": 0}

    def __init__(self, slot, binary, proxy, bucket, catalog):
        self.catalog = catalog
        super().__init__(slot, binary, proxy, bucket)

    def store_settings(self):
        return f"{super().store_settings().removesuffix('}')}, catalog: {self.catalog}}}"

    def fill(self, count):
        sources = [path.read_bytes() for path in sorted(FIXTURES.glob("size-*.jpg"))]
        for number in range(count):
            place = self.pictures / f"Gallery/{2000 + number % 20}/{number}.jpg"
            place.parent.mkdir(exist_ok=True)
            place.write_bytes(numbered(sources[number % len(sources)], number))

    def lose_state(self):
        shutil.rmtree(self.folder / "state")

    def report(self, command):
        told = json.loads(self.ask(command, "--json"))
        if command == "sync":
            return f"{told['uploaded']} photos stored"
        return f"{told['fromCatalog']} names, {told['recovered']} photos without"

    @classmethod
    def words(cls, requests):
        """`949 PUT, 3 LIST: 0.52 cents`."""
        cents = sum(number * cls.PRICES[name] / 10 for name, number in requests.items())
        return ", ".join(f"{number:,} {name.upper()}" for name, number in sorted(requests.items())) + f": {cents:.4f} cents"


class Life:
    """One life. `files` is what the person has: {path below Pictures: (MD5, time)}; `gone` what was deleted after a pass."""

    def __init__(self, home, seed, count, kills, restores=True):
        """`restores`: whether the store can bring back what it has archived; Ceph cannot."""
        self.home, self.draw, self.count, self.kills = home, random.Random(f"{seed} life"), count, kills
        self.restores = restores
        self.sources = [path.read_bytes() for path in sorted(FIXTURES.glob("size-*.jpg"))]
        self.files, self.gone, self.number, self.counts = {}, {}, 0, Counter()
        # Earlier photos of a path. Catalogues do not have them: they come back without their names.
        self.data, self.replaced = [], set()
        # What the last whole pass has left in the store.
        self.learned = {}

    def add(self, path):
        if self.data and self.draw.random() < 0.05:
            data = self.draw.choice(self.data)
        else:
            self.number += 1
            data = numbered(self.draw.choice(self.sources), self.number)
            self.data.append(data)
        self.put(path, data)

    def put(self, path, data):
        place = self.home.pictures / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(data)
        # Whole seconds, and odd ones; before the epoch's first billion, too.
        stamp = self.draw.randint(900_000_000, 1_790_000_000) * 10**9 + self.draw.choice((0, 1, 999_999_999))
        os.utime(place, ns=(stamp, stamp))
        self.files[path] = (md5(data).hexdigest(), stamp)

    def new_path(self, number):
        kind = number % 10
        if kind == 0:
            return f"Vacations/{TRIPS[number // 10 % 2]}/{number}.jpg"
        if kind in (1, 2):
            return f"Phone/Gallery/{'more/' * (kind - 1)}IMG_{number - kind:05}.jpg"
        if kind == 3:
            return f"Gallery/IMG_{number - kind:05}.jpg"
        if kind in (4, 5):
            return f"Gallery/{self.draw.choice(ODD)}/{self.draw.choice(ODD)}/{number}{self.draw.choice(ODD)}.jpg"
        return f"Gallery/{2000 + number % 20}/{number % 7}/{number}.jpg"

    def projects(self):
        records = []
        for number in range(5):
            self.number += 1
            self.put(f"Projects/p{number}.jpg", numbered(self.sources[0], 10**6 + number))
            records.append({"id": f"p{number}", "templateId": f"t{number}", "templateName": "Sketch",
                            "createdAt": 1781000000 + 1000 * number, "status": "Completed", "requestId": f"r{number}"})
        self.put("Projects/projects.json", json.dumps(records).encode())

    def events(self):
        now, found = datetime.now(timezone.utc), []
        for number in range(4):
            data = numbered(self.sources[1], 2 * 10**6 + number)
            found.append({"id": f"ev-{number}", "userId": "ana", "profileId": "grandpa", "eventType": "taskResponse",
                          "createdAt": (now - timedelta(days=3)).strftime("%Y-%m-%dT%H:%M:%SZ"), "text": "words",
                          "photoData": base64.b64encode(data).decode()})
        (self.home.pictures / "Gallery/events.json").write_text(json.dumps(found))
        self.event_keys = {key_of(md5(numbered(self.sources[1], 2 * 10**6 + number)).hexdigest()) for number in range(4)}

    def sync(self):
        """Killed now and then, and then to its end."""
        for _ in range(self.kills):
            self.counts["kills of sync" if self.home.kill(self.draw, ["sync"]) else "passes to their end"] += 1
            self.judge_elsewhere()
        self.home.ask("sync", accept=(0, 3))
        # A photo that was in hand at two kills is set aside, and asked for again.
        self.home.ask("retry", accept=(0, 3))
        self.home.ask("sync")
        self.counts["passes"] += 1
        self.learned = {**self.files, **self.gone}

    def judge_elsewhere(self):
        """What a new machine reads out of the store at this moment: all that a whole pass has left there, and that is so still."""
        state = self.home.folder / "elsewhere"
        with self.home.with_state(state):
            self.home.ask("rebuild", "--json", accept=(0, 3))
            known = self.home.status()
        shutil.rmtree(state)
        for name, (digest, _) in self.learned.items():
            if (self.files.get(name) or self.gone.get(name) or (None,))[0] != digest or name.startswith("Projects/"):
                continue
            if (known.get(as_told(name)) or {}).get("key") != key_of(digest):
                raise Broken(f"a pass was killed, and the store does not tell of {name!r} any more, which was stored before")

    def change(self):
        names = [name for name in sorted(self.files) if not name.startswith("Projects/")]
        for name in self.draw.sample(names, len(names) // 8):
            fate, place = self.draw.choice(("move", "delete", "change")), self.home.pictures / name
            # The trips are shared, and stay.
            if name.startswith("Vacations/"):
                continue
            if fate == "change":
                self.replaced.add(self.files[name][0])
                self.add(name)
                continue
            known = self.files.pop(name)
            if fate == "delete":
                place.unlink()
                self.gone[name] = known
            else:
                goal = f"Gallery/moved/{self.draw.choice(ODD)}{len(self.files)}-{known[0][:6]}.jpg"
                (self.home.pictures / goal).parent.mkdir(parents=True, exist_ok=True)
                place.rename(self.home.pictures / goal)
                self.files[goal] = known
        for number in range(self.count, self.count + self.count // 10):
            self.add(f"Gallery/later-{len(self.files)}/{number}.jpg")

    def live(self):
        home = self.home
        home.grow()
        for number in range(self.count):
            self.add(self.new_path(number))
        self.projects()
        self.events()
        self.sync()
        shutil.copytree(home.folder / "state", home.slot / "old-state")
        home.ask("share", TRIPS[0], "--yes")
        self.change()
        home.write(ARCHIVING if self.restores else "")
        self.sync()
        home.write()
        for number in range(self.count * 2, self.count * 2 + self.count // 10):
            self.add(f"Gallery/young/{number}.jpg")
        self.sync()
        # Passes with little to tell: that is when segments of the catalogue are joined.
        for number in range(LITTLE):
            self.add(f"Gallery/little/{number}.jpg")
            self.sync()
        if self.restores:
            home.ask("restore", "--yes", home.pictures / "Phone/Gallery")
        home.ask("share", TRIPS[1], "--yes", accept=(0, 3))
        home.ask("sync")
        self.before, self.stored, self.kinds = home.status(), home.objects(), home.classes()
        self.asked = json.loads(home.ask("shares", "--json"))["shares"]

    # The disk is gone.

    def lose(self):
        home = self.home
        shutil.rmtree(home.folder / "state")
        shutil.rmtree(home.pictures)
        for name in FOLDERS:
            (home.pictures / name).mkdir(parents=True)

    def rebuild(self):
        for _ in range(self.kills):
            self.counts["kills of rebuild" if self.home.kill(self.draw, ["rebuild"]) else "rebuilds to their end"] += 1
        self.told = json.loads(self.home.ask("rebuild", "--json"))
        self.counts["rebuilds"] += 1
        self.after = self.home.status()

    def restore(self):
        shutil.rmtree(self.home.out, ignore_errors=True)
        self.home.ask("restore", "--all", "--wait", "--yes", "--output", self.home.out)
        self.saved = files_below(self.home.out)
        self.times = {name: (self.home.out / name).stat().st_mtime_ns for name in self.saved}
        self.digests = self.home.objects()

    def judge(self):
        self.judge_store()
        self.judge_names()
        self.judge_files()
        self.judge_shares()

    def judge_store(self):
        now = self.home.objects()
        # What was archived can be read after its restore alone: by its name then.
        for key in sorted(self.stored.keys() | now.keys()):
            if key not in now:
                raise Broken(f"the object {key} is gone")
            if key not in self.stored:
                raise Broken(f"the object {key} was made by a rebuild")
            one, other = self.stored[key], now[key]
            if one != other and not one.startswith("unread:") and not other.startswith("unread:"):
                raise Broken(f"the object {key} is another one")

    def judge_names(self):
        if self.told["recovered"] > len(self.nameless()) or self.told["lost"]:
            raise Broken(f"{self.told['recovered']} names are recovered, and {self.told['lost']} lost, after a whole pass; "
                         f"{len(self.nameless())} photos had been replaced by others")
        for name, (digest, _) in self.files.items() | self.gone.items():
            shown = as_told(name)
            entry = self.after.get(shown)
            if not entry:
                raise Broken(f"{name!r} is not known")
            if not name.startswith("Projects/") and entry["key"] != key_of(digest):
                raise Broken(f"{name!r} is {entry['key']}, not {key_of(digest)}")
            if name.startswith("Projects/") and entry["md5"] != digest:
                raise Broken(f"{name!r} has another MD5")
            if entry["state"] != "missing":
                raise Broken(f"{name!r} is {entry['state']}, with no file on the disk")
            known = self.before[shown]
            for field in ("key", "storageClass", "takenAt", "width", "height", "bytesStored"):
                if known[field] != entry[field]:
                    raise Broken(f"{name!r} had the {field} {known[field]}, and has {entry[field]}")
            if self.kinds and entry["storageClass"] != self.kinds[entry["key"]]:
                raise Broken(f"{name!r} is said to be in {entry['storageClass']}, and is in {self.kinds[entry['key']]}")
        if missing := self.event_keys - {entry["key"] for entry in self.after.values()}:
            raise Broken(f"photos of events are not known: {sorted(missing)}")

    def nameless(self):
        return self.replaced - {digest for digest, _ in [*self.files.values(), *self.gone.values()]}

    def judge_files(self):
        recovered = [name for name in self.saved if name.startswith("recovered/")]
        for name in recovered:
            if name.removeprefix("recovered/").partition(".")[0] not in self.nameless():
                raise Broken(f"{name} has lost its name")
        for name, (digest, stamp) in self.files.items() | self.gone.items():
            key = self.before[as_told(name)]["key"]
            found = [place for place in self.places(name) if self.saved.get(place) == self.digests[key]]
            if not found:
                raise Broken(f"{name!r} is not restored with the bytes of {key}: at {self.places(name)} there is "
                             f"{[self.saved.get(place) for place in self.places(name)]}")
            # A time goes through a floating-point number on its way back.
            if all(abs(self.times[place] - stamp) > 1_000 for place in found):
                raise Broken(f"{name!r} has the time {[self.times[place] for place in found]}, and had {stamp}")
        wanted = len(self.files) + len(self.gone) + len(self.event_keys) + len(recovered)
        if len(self.saved) != wanted:
            raise Broken(f"{len(self.saved)} files are restored, and {wanted} are known")

    @staticmethod
    def places(name):
        """Where it is to be: two folders of one last name are told apart by the folders that they are in."""
        return [name]

    def judge_shares(self):
        there = {key.split("/")[1] for key in self.home.shared()}
        listed = {share["shareId"] for share in json.loads(self.home.ask("shares", "--json"))["shares"]}
        if there - listed:
            raise Broken(f"the share {sorted(there - listed)[0]} is in the store, and is not listed")
        if gone := {share["shareId"] for share in self.asked if share["state"] == "live"} - there:
            raise Broken(f"the share {sorted(gone)[0]} was live, and is gone")

    def judge_revoked(self):
        if left := sorted(self.home.shared()):
            raise Broken(f"{left[0]} is left of a revoked share")

    def revoke(self):
        for share in json.loads(self.home.ask("shares", "--json"))["shares"]:
            if share["state"] not in ("revoked", "expired"):
                self.home.ask("shares", "--revoke", share["shareId"], "--yes")
        self.home.ask("sync", accept=(0, 3))

    def again(self):
        """A second rebuild changes nothing; an old ledger is brought up to date."""
        # Since the first one, copies of archived photos have come back.
        first = self.home.status()
        self.told = json.loads(self.home.ask("rebuild", "--json"))
        self.after = self.home.status()
        if first != self.after:
            name = next(name for name in first.keys() | self.after.keys() if first.get(name) != self.after.get(name))
            one, other = first.get(name) or {}, self.after.get(name) or {}
            fields = {field: (one.get(field), other.get(field)) for field in one.keys() | other.keys()
                      if one.get(field) != other.get(field)}
            raise Broken(f"a second rebuild changes {name!r}: {fields}")
        self.judge_store()

    def old_ledger(self):
        shutil.rmtree(self.home.folder / "state")
        shutil.copytree(self.home.slot / "old-state", self.home.folder / "state")
        self.told = json.loads(self.home.ask("rebuild", "--json"))
        self.after = self.home.status()
        self.judge_store()
        self.judge_names_of_old()

    def judge_names_of_old(self):
        for name, (digest, _) in self.files.items():
            shown = as_told(name)
            if shown not in self.after:
                raise Broken(f"an old ledger does not know {name!r} after a rebuild")
            if not name.startswith("Projects/") and self.after[shown]["key"] != key_of(digest):
                raise Broken(f"an old ledger has {self.after[shown]['key']} for {name!r} after a rebuild")

    def plant_share(self):
        """As if the store had one that nobody knows."""
        there = self.home.shared
        self.home.shared = lambda: {**there(), "shares/nobody/index.html": b""}

    def run(self):
        self.live()
        self.lose()
        self.rebuild()
        self.restore()
        self.judge()
        self.again()
        self.old_ledger()
        self.judge_shares()
        self.revoke()
        self.judge_revoked()


def as_told(name):
    """A name in what the program says of it."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def key_of(digest):
    return f"users/ana/photos/{digest}.dat"


def first_photo(life):
    return next(name for name in sorted(life.files) if name.startswith("Gallery/20"))


def swap(life):
    one, other = [name for name in sorted(life.files) if name.startswith("Gallery/20")][:2]
    life.after[one], life.after[other] = life.after[other], life.after[one]


def swap_files(life):
    names = [name for name in sorted(life.saved) if name.startswith("Gallery/20")]
    one = names[0]
    other = next(name for name in names if life.saved[name] != life.saved[one])
    life.saved[one], life.saved[other] = life.saved[other], life.saved[one]


def first_key(mapping, start):
    return next(key for key in sorted(mapping) if key.startswith(start))


# What is planted into what the judge sees, and into nothing else.
LIES = (
    ("an object is gone", lambda life: life.stored.update({"users/ana/photos/0.dat": "0"})),
    ("an object was uploaded", lambda life: life.stored.pop(first_key(life.stored, "users/ana/photos/"))),
    ("an object has other bytes", lambda life: life.stored.update({first_key(life.stored, "users/ana/vacations/"): "0"})),
    ("a name is not known", lambda life: life.after.pop(first_photo(life))),
    ("two names are swapped", swap),
    ("a photo is called stored and on the disk", lambda life: life.after[first_photo(life)].update(state="uploaded")),
    ("a class is another one", lambda life: life.after[first_photo(life)].update(storageClass="GLACIER")),
    ("a capture time is another one", lambda life: life.after[first_photo(life)].update(takenAt="2001-01-01T00:00:00")),
    ("a name is recovered", lambda life: life.told.update(recovered=1000)),
    ("a photo of an event is not known", lambda life: life.event_keys.add("users/ana/photos/0.dat")),
    ("a file is not restored", lambda life: [life.saved.pop(name, 0) for name in life.places(first_photo(life))]),
    ("two files are swapped", swap_files),
    ("a file has another time", lambda life: life.times.update(dict.fromkeys(life.places(first_photo(life)), 1))),
    ("a file is in recovered/", lambda life: life.saved.update({"recovered/x.jpg": "0"})),
    ("a file is there twice", lambda life: life.saved.update({"Gallery/again.jpg": "0"})),
    ("a live share is gone", lambda life: life.asked.append({"shareId": "0", "state": "live"})),
    ("a share is not listed", lambda life: life.plant_share()),
)
