"""A plain model of what a person has and was promised, the steps that change it, and what must hold after each."""

import base64
import hashlib
import json
import os
import random
import shutil
import signal
import subprocess
from datetime import datetime, timedelta, timezone
from pathlib import Path

from homes import EVENTS, FIXTURES, TRIP, Broken, Home, sha256
from injection import Point
from programs import library

FOLDERS = ("Gallery", f"Vacations/{TRIP}", "Gallery/old")
FAKETIME = sorted(Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"))
REAL_TIMERS = Path(__file__).parent / "real-timers.c"
EVENT_DAYS = 30
# Why a photo was not tried again, as the program tells it (docs/rules/photos.md).
SET_ASIDE = "the agent was ended twice while it had this photo in hand"
SHAPES = ("orientation-3.jpg", "size-17x33.jpg", "size-16x16.jpg", "camera-offset.jpg", "size-7x9.jpg")
# Half of a history is files and passes: the other steps need something to work on. Each kind, and how often it is drawn.
KINDS = {"come": 8, "again": 3, "change": 4, "move": 5, "vanish": 3, "sync": 6, "kill sync": 7, "kill run": 3,
         "lose": 3, "damage": 3, "forget record": 2, "verify": 2, "restore": 2, "share": 2, "kill share": 2,
         "revoke": 2, "kill revoke": 1, "mirror": 1, "event": 4, "cleanup": 2, "kill cleanup": 2, "fail sync": 4, "fail run": 2,
         "fail cleanup": 2, "clock": 3, "zone": 1}

# A system call that fails on a file of the home, once or (+) from then on: with an error, or with an early end.
FAILING = tuple((call, fault + lasting) for calls, faults, lasts in (
    (("openat",), ("EIO", "EMFILE"), ("", "+")),
    (("read", "pread64"), ("EIO",), ("", "+")),
    (("read", "pread64"), ("short",), ("",)),
    (("write", "pwrite64", "fsync", "fdatasync", "rename", "renameat2", "link", "mkdir"), ("EIO", "ENOSPC"), ("", "+")),
    (("unlink", "newfstatat", "statx", "getdents64"), ("EIO",), ("", "+")),
) for call in calls for fault in faults for lasting in lasts)


def photo(number):
    """A photo like no other: a picture of the repository with a comment of its own."""
    data = (FIXTURES / SHAPES[number % len(SHAPES)]).read_bytes()
    comment = f"photo {number}".encode()
    return data[:2] + b"\xff\xfe" + (len(comment) + 2).to_bytes(2, "big") + comment + data[2:]


def key_of(data):
    return f"users/ana/photos/{hashlib.md5(data).hexdigest()}.dat"


def history(seed, length):
    """The same steps for the same seed. Each has numbers of its own, so that any of them can be left out."""
    draw = random.Random(seed)
    kinds = draw.choices(list(KINDS), weights=KINDS.values(), k=length)
    return [(kind, draw.randrange(1 << 16), draw.randrange(1 << 16)) for kind in kinds]


def digest(steps):
    return hashlib.sha256(json.dumps(steps).encode()).hexdigest()[:16]


class World(Home):
    """A home, and what the model knows of it."""

    def __init__(self, slot, binary, reference):
        super().__init__(slot, binary, f"retention: {{event_days: {EVENT_DAYS}}}\n")
        # {key: SHA-256} as a home where nothing went wrong has stored it.
        self.reference = reference
        self.files, self.events = {}, {}
        # Keys that were seen whole in the store; those that the steps have spoilt, and how.
        self.proved, self.spoilt = set(), {}
        self.shares, self.revoked = {}, set()
        self.now, self.latest, self.zone = datetime.now(timezone.utc), None, "UTC"
        self.began, self.latest = self.now, self.now
        self.count, self.kills = 0, 0

    def grow(self):
        for name in FOLDERS:
            (self.pictures / name).mkdir(parents=True)
        watch = "".join(f"  - {{kind: {name.lower()}, path: {self.pictures}/{name}}}\n" for name in ("Gallery", "Vacations"))
        (self.folder / "config.yaml").write_text(
            f"user: ana\nstore: {{type: directory, path: {self.store}, restore_seconds: 0}}\nwatch:\n{watch}"
            f"upload: {{batch_size: 3, settle_seconds: 0}}\n{self.more}")
        os.chmod(self.folder / "config.yaml", 0o600)
        self.tell_time()

    def tell_time(self):
        """The program sees the clock of the model; what files say of their times stays as the disk has it."""
        ahead = int((self.now - self.began).total_seconds())
        self.environment.update(TZ=self.zone)
        if FAKETIME:
            self.environment.update(LD_PRELOAD=f"{library(REAL_TIMERS)}:{FAKETIME[-1]}", FAKETIME=f"{ahead:+d}", NO_FAKE_STAT="1",
                                    DONT_FAKE_MONOTONIC="1")

    # Steps. Each takes two numbers, and is nothing where there is nothing to choose from.

    def path(self, number):
        names = sorted(self.files)
        return names[number % len(names)] if names else None

    def put(self, name, data):
        """As programs do it: whole under another name, then renamed."""
        hidden = self.folder / "coming"
        hidden.write_bytes(data)
        hidden.rename(self.pictures / name)
        self.files[name] = data

    def come(self, one, two):
        self.count += 1
        self.put(f"{FOLDERS[one % 3]}/photo-{self.count}.jpg", photo(two % len(self.reference)))

    def again(self, one, two):
        """The same bytes once more, under another name."""
        if name := self.path(one):
            self.count += 1
            self.put(f"{FOLDERS[two % 3]}/copy-{self.count}.jpg", self.files[name])

    def change(self, one, two):
        if name := self.path(one):
            self.put(name, photo(two % len(self.reference)))

    def move(self, one, two):
        """To a new name, or over another photo."""
        if name := self.path(one):
            self.count += 1
            goal = self.path(two) if two % 4 == 0 else f"{FOLDERS[two % 3]}/moved-{self.count}.jpg"
            (self.pictures / name).rename(self.pictures / goal)
            self.files[goal] = self.files.pop(name)

    def vanish(self, one, two):
        if name := self.path(one):
            (self.pictures / name).unlink()
            del self.files[name]

    def sync(self, one, two):
        self.ask("sync", accept=(0, 3))
        self.after_pass()

    def after_pass(self):
        """A pass lists the store, and sees what is gone; what is there with other bytes is for verify to find."""
        self.spoilt = {key: how for key, how in self.spoilt.items() if how == "damage"}
        for name, (state, key) in self.claims().items():
            if state == "uploaded" and name in self.files and key != key_of(self.files[name]):
                raise Broken(f"after a pass, {name} is called stored under {key}, which is not its MD5")

    def killed(self, number, *words):
        """Killed after 1 to 250 ms, or a little later than it ends."""
        process = subprocess.Popen(self.command(*words), env=self.environment, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            process.wait(timeout=(1 + number % 250) / 1000)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            process.wait()
            self.kills += 1

    def kill_sync(self, one, two):
        self.killed(one, "sync")

    def kill_run(self, one, two):
        self.killed(one * 3, "run")

    def failing(self, one, two, *words, seconds=60):
        """One call of the program fails on what is in the home; it ends by itself, or is killed as `run` is."""
        call, fault = FAILING[one % len(FAILING)]
        paths = {str(path) for path in (self.folder, *self.folder.rglob("*"))}
        command = Point(call, fault, 1 + two % 4, named=True).wrap(self.command(*words), str(self.slot / "failing"), paths, self.folder)
        process = subprocess.Popen(command, env=self.environment, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            code = process.wait(timeout=seconds)
            if code < 0:
                raise Broken(f"{words[0]} crashes with {code} where {call} fails with {fault}")
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            process.wait()
            if words[0] != "run":
                raise Broken(f"{words[0]} does not end where {call} fails with {fault}") from None
            self.kills += 1

    def fail_sync(self, one, two):
        self.failing(one, two, "sync")

    def fail_run(self, one, two):
        self.failing(one, two, "run", seconds=1)

    def fail_cleanup(self, one, two):
        self.failing(one, two, "cleanup", "--trust-clock")

    def spoil(self, number, how):
        there = sorted(key for key in self.objects() if key in self.reference)
        if there:
            key = there[number % len(there)]
            record = self.store / "records" / f"{key}~.json"
            # Not always the one of its key: beside what another had left there, it has a name of its own.
            path = self.store / "objects" / json.loads(record.read_text())["file"]
            if how == "damage":
                data = bytearray(path.read_bytes())
                data[len(data) // 2] ^= 255
                path.write_bytes(data)
            elif how == "lose":
                path.unlink()
            else:
                record.unlink()
            self.spoilt[key] = how
            self.proved.discard(key)

    def lose(self, one, two):
        self.spoil(one, "lose")

    def damage(self, one, two):
        self.spoil(one, "damage")

    def forget_record(self, one, two):
        self.spoil(one, "forget record")

    def verify(self, one, two):
        """What it finds is stored again by the next pass or, where no file is left, told as lost."""
        self.ask("verify", "--all", "--budget", "9", accept=(0, 3))
        there = self.objects()
        self.spoilt = {key: how for key, how in self.spoilt.items() if there.get(key) != self.reference[key]}
        for name, (state, key) in self.claims().items():
            if key in self.spoilt and state in ("uploaded", "missing"):
                raise Broken(f"after a verification, {name} is {state}, and {key} is not there whole")

    def restore(self, one, two):
        shutil.rmtree(self.out, ignore_errors=True)
        name = self.path(one)
        if name and self.claims().get(name, ("",))[0] == "uploaded":
            self.ask("restore", "--yes", "--output", self.out, self.pictures / name, accept=(0, 1, 3))
            for path in self.out.rglob("*.jpg"):
                if not path.name.startswith(".") and sha256(path) not in self.reference.values():
                    raise Broken(f"the restored {path.name} is of no photo that was stored")

    def share(self, one, two):
        if answer := self.ask("share", "--yes", "--json", TRIP, accept=(0, 1, 3, 66)).strip():
            said = json.loads(answer)
            if "shareId" in said:
                self.revoked.discard(said["shareId"].lower())

    def kill_share(self, one, two):
        self.killed(one, "share", "--yes", TRIP)

    def open_shares(self):
        said = json.loads(self.ask("shares", "--json", accept=(0, 3)))["shares"]
        return sorted(item["shareId"].lower() for item in said if item.get("link"))

    def revoke(self, one, two, kills=False):
        there = self.open_shares()
        if there:
            chosen = there[one % len(there)]
            if kills:
                self.killed(two, "shares", "--revoke", chosen, "--yes")
            else:
                self.ask("shares", "--revoke", chosen, "--yes")
                self.revoked.add(chosen)

    def kill_revoke(self, one, two):
        self.revoke(one, two, kills=True)

    def mirror(self, one, two):
        goal = self.folder / "mirror"
        there = self.open_shares()
        if there:
            self.ask("mirror", there[one % len(there)], goal, accept=(0, 1, 3))

    def event(self, one, two):
        """Its age is 0 to 59 days; every third has no photo."""
        self.count += 1
        name, picture = f"ev-{self.count}", photo(two % len(self.reference)) if two % 3 else None
        self.events[name] = (self.now - timedelta(days=one % 60, minutes=5), picture)
        path = self.folder / EVENTS
        there = json.loads(path.read_text()) if path.exists() else []
        there.append({
            "id": name, "userId": "ana", "profileId": "grandpa", "eventType": "taskResponse",
            "createdAt": self.events[name][0].strftime("%Y-%m-%dT%H:%M:%SZ"), "text": f"words-of-{name}.",
            "photoData": base64.b64encode(picture).decode() if picture else None})
        hidden = path.with_name(".coming.json")
        hidden.write_text(json.dumps(there))
        hidden.rename(path)

    def is_due(self, name, moment, days=EVENT_DAYS):
        return self.events[name][0] < moment - timedelta(days=days)

    def cleanup(self, one, two):
        said = self.ask("cleanup", "--trust-clock", "--json", accept=(0, 1, 3))
        # The day of the cleanup and the zone decide about the last day: it is not judged.
        late = [name for name in self.words() if self.is_due(name, self.now, EVENT_DAYS + 2)]
        if late and not json.loads(said or "{}").get("errors"):
            raise Broken(f"after a cleanup, the words of {late[0]} are there, and no error tells why")

    def kill_cleanup(self, one, two):
        self.killed(one, "cleanup", "--trust-clock")

    def clock(self, one, two):
        """Up to four days on; each fifth time two hours back."""
        self.now += timedelta(hours=-2) if one % 5 == 0 else timedelta(hours=two % 96)
        if not FAKETIME:
            self.now = self.began
        self.latest = max(self.latest, self.now)
        self.tell_time()

    def change_zone(self, one, two):
        self.zone = ("UTC", "Pacific/Kiritimati", "America/Los_Angeles", "Europe/Berlin")[one % 4]
        self.tell_time()

    def take(self, step):
        kind, one, two = step
        getattr(self, "change_zone" if kind == "zone" else kind.replace(" ", "_"))(one, two)
        self.judge()

    # What must hold.

    def words(self):
        path = self.folder / EVENTS
        if not path.exists():
            return set()
        text = path.read_text()
        try:
            json.loads(text)
        except ValueError as error:
            raise Broken(f"events.json is no JSON any more: {error}") from error
        return {name for name in self.events if f"words-of-{name}." in text}

    def judge(self):
        for name, data in self.files.items():
            path = self.pictures / name
            if not path.exists() or path.read_bytes() != data:
                raise Broken(f"the photo {name} is gone or another one")
        there = self.objects()
        for key, found in there.items():
            if key.startswith("users/ana/photos/") and key not in self.reference:
                raise Broken(f"{key} is in the store, and of no photo")
            if key in self.reference and found != self.reference[key] and key not in self.spoilt:
                raise Broken(f"{key} has other bytes in the store")
        if gone := [key for key in sorted(self.proved) if key not in there]:
            raise Broken(f"{gone[0]} was in the store, and is not any more")
        self.proved |= {key for key in there if key in self.reference and key not in self.spoilt}
        for path, (state, key) in self.claims().items():
            if state == "uploaded" and key in self.reference and key not in there and key not in self.spoilt:
                raise Broken(f"{path} is called stored, and {key} is not in the store")
        self.judge_events(there)
        for chosen in self.revoked:
            if left := [key for key in there if key.lower().startswith(f"shares/{chosen}/")]:
                raise Broken(f"a share was revoked, and {left[0]} is there")

    def judge_events(self, there):
        left = self.words()
        for name, (_, picture) in self.events.items():
            if name in left:
                continue
            # A day's grace: the cleanup counts days of the zone.
            if not self.is_due(name, self.latest, EVENT_DAYS - 2):
                raise Broken(f"the words of {name} are gone, and it is young")
            if picture and not any(key.startswith("gallery-archive/") and key.endswith(f"/{name}.jpg") for key in there):
                raise Broken(f"the words of {name} are gone, and its photo is not in the archive")

    def retry_set_aside(self):
        """A photo that was in a decoder's hands at two kills waits for the person, who does as its error says."""
        for file in self.status().values():
            if file["state"] == "failed" and file["error"].startswith(SET_ASIDE):
                if self.kills < 2:
                    raise Broken(f"{file['path']} was set aside after {self.kills} kills")
                self.ask("retry", file["path"])

    def settle(self):
        """After the faults: a look at the store and two passes make all safe, and a third sends nothing."""
        self.verify(0, 0)
        self.sync(0, 0)
        self.retry_set_aside()
        self.sync(0, 0)
        self.judge()
        there, claims = self.objects(), self.claims()
        for name, data in self.files.items():
            state = claims.get(name, ("not known",))[0]
            if state != "uploaded":
                raise Broken(f"after the faults and two passes, {name} is {state}")
            if there.get(key_of(data)) != self.reference[key_of(data)]:
                raise Broken(f"after the faults and two passes, {name} is not in the store with its bytes")
        for name, (state, key) in claims.items():
            if state == "uploaded" and key in self.reference and there.get(key) != self.reference[key]:
                raise Broken(f"after the faults, {name} is called stored, and {key} is not there whole")
        again = json.loads(self.ask("sync", "--json", accept=(0, 3)))
        if again["uploaded"]:
            raise Broken(f"nothing has changed, and {again['uploaded']} were sent again")


def reference(slot, binary, size):
    """{key: SHA-256} of what a home with nothing but these photos stores."""
    home = World(slot, binary, {})
    home.grow()
    keys = []
    for number in range(size):
        keys.append(key_of(photo(number)))
        home.put(f"Gallery/{number}.jpg", photo(number))
    home.ask("sync")
    there = home.objects()
    return {key: there[key] for key in keys}


# What the model must see: the lie that is planted before it looks.
def without_object(world):
    (world.store / "objects" / sorted(world.proved)[0]).unlink()


def other_bytes(world):
    path = world.store / "objects" / sorted(world.proved)[0]
    path.write_bytes(path.read_bytes()[:-3] + b"lie")


def without_record(world):
    (world.store / "records" / f"{sorted(world.proved)[0]}~.json").unlink()


def without_photo(world):
    (world.pictures / world.path(0)).unlink()


def cut_photo(world):
    path = world.pictures / world.path(0)
    path.write_bytes(path.read_bytes()[:-9])


def foreign(world):
    source = sorted((world.store / "records").rglob("*~.json"))
    data = json.loads(source[0].read_text())
    data["key"] = key_of(b"nobody's")
    source[0].with_name("lie~.json").write_text(json.dumps(data))


def without_words(world):
    name = sorted(name for name in world.events if not world.is_due(name, world.now))[0]
    path = world.folder / EVENTS
    path.write_text(json.dumps([item for item in json.loads(path.read_text()) if item["id"] != name]))


def without_archive(world):
    name = sorted(name for name, (_, picture) in world.events.items() if picture and world.is_due(name, world.now))[0]
    next((world.store / "objects/gallery-archive").rglob(f"{name}.jpg")).unlink()


def half_events(world):
    path = world.folder / EVENTS
    path.write_text(path.read_text()[:-20])


def revoked_again(world):
    world.revoked.add(world.open_shares()[0])


LIES = (without_object, other_bytes, without_record, without_photo, cut_photo, foreign, without_words, without_archive,
        half_events, revoked_again)
