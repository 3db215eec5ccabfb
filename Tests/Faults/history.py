"""One run of several machines and people on one store, and what must hold of it."""

import json
import random
import shutil
import threading
import time
from collections import Counter
from hashlib import md5
from pathlib import Path

from homes import Broken, files_below
from machines import TRIPS, Deal, LocalPlace, Machine, RemotePlace, good_copies
from proxy import Plan, Proxy
from servers import Bucket, ServerError

NAMES = ("a", "b", "c")
# What the store does to requests while it is said to answer badly. Nothing here alters what is stored.
BAD = ("500-before", "500-after", "503-slow-down", "429", "403", "404", "409-after", "reset-before", "reset-in-request",
       "reset-after", "no-answer", "cut-answer", "stall", "twice", "200-error", "200-empty", "portal", "no-tag", "clock")
FATES = ("bad", "kill", "away", "bad and kill", "calm")
# Seconds that all may take to become quiet, without anything new.
PATIENCE = 150


class History:
    """One run of all, from empty folders to the last check."""

    def __init__(self, folder, binary, server, options, seed, photos):
        self.folder, self.seed, self.options = Path(folder), seed, options
        self.draw, self.lines, self.broken = random.Random(f"{seed} fates"), [], []
        self.deal = Deal(seed, NAMES, photos)
        self.good = good_copies(self.folder, binary, self.deal)
        self.proxy = None
        if server:
            self.bucket = Bucket(server, f"together-{seed}-{photos}")
            self.bucket.make()
            self.place, self.proxy = RemotePlace(self.bucket), Proxy(server)
        else:
            self.path = self.folder / "shared-disk"
            self.place = LocalPlace(self.path)
        where = self.bucket.name if server else self.path
        port = self.proxy.port if server else 0
        self.machines = {name: Machine(self.folder / name, binary, name, server, port, where) for name in (*NAMES, "d")}
        self.a, self.d = self.machines["a"], self.machines["d"]
        self.shares, self.revoked, self.deleted = {}, set(), set()
        self.counts, self.looks, self.over = Counter(), 0, threading.Event()

    # What people do.

    def person(self, who, machine, draw, count):
        """Commands of one person, one after the other."""
        choices = ["status", "refresh", "share", "share", "shares", "revoke", "mirror", "restore", "cleanup", "verify"]
        choices += ["projects", "delete"] if machine is self.a else ["sync", "sync"]
        for _ in range(count):
            if self.over.is_set():
                return
            choice = draw.choice(choices)
            self.counts[choice] += 1
            try:
                getattr(self, f"do_{choice}")(who, machine, draw)
            except Broken as error:
                self.fail(f"{choice}: {error}")
            except (ServerError, OSError, ValueError, KeyError) as error:
                self.fail(f"{choice}: {type(error).__name__} {error}")

    def fail(self, why):
        self.broken.append(why)
        self.lines.append(f"FAILED {why}")
        print(f"FAILED {why}\n    again: scripts/together --seed {self.seed} --photos {len(self.deal.files['a'])} --waves "
              f"{self.options.waves} --store {'moto' if self.proxy else 'disk'}", flush=True)

    def do_status(self, who, machine, draw):
        code, output = machine.say(self.lines, who, "status", "--json")
        if code == 0:
            json.loads(output)

    def do_refresh(self, who, machine, draw):
        machine.say(self.lines, who, "status", "--refresh")

    def do_sync(self, who, machine, draw):
        code, _ = machine.say(self.lines, who, "sync")
        if code == 0:
            self.while_there(self.check_claims, machine, all_of=True)

    def do_share(self, who, machine, draw):
        code, output = machine.say(self.lines, who, "share", draw.choice(TRIPS), "--yes", "--json")
        if code in (0, 3) and output.strip():
            told = json.loads(output)
            if told["state"] == "live":
                self.shares[told["shareId"]] = (machine, told["link"])
                if code == 0:
                    self.while_there(self.check_share, told["shareId"])

    def do_shares(self, who, machine, draw):
        code, output = machine.say(self.lines, who, "shares", "--json")
        if code == 0:
            json.loads(output)

    def do_revoke(self, who, machine, draw):
        own = sorted(name for name, (owner, _) in self.shares.items() if owner is machine)
        if not own:
            return
        name = draw.choice(own)
        code, _ = machine.say(self.lines, who, "shares", "--revoke", name, "--yes")
        if code == 0:
            self.shares.pop(name)
            self.revoked.add(name)
            self.while_there(self.check_revoked, name)

    def do_mirror(self, who, machine, draw):
        if not self.shares:
            return
        name = draw.choice(sorted(self.shares))
        _, link = self.shares[name]
        goal = machine.folder / f"mirror-{name}"
        code, _ = machine.say(self.lines, who, "mirror", link, goal)
        if code == 0 and not list(goal.glob("*.jpg")):
            raise Broken(f"the mirror of {name} ends with 0, and has no photo")

    def do_restore(self, who, machine, draw):
        if not machine.given:
            return
        path = draw.choice(sorted(machine.given))
        goal = machine.folder / f"restored-{len(self.lines)}"
        code, _ = machine.say(self.lines, who, "restore", "--yes", "--output", goal, machine.pictures / path)
        found = [digest for name, digest in files_below(goal).items() if not Path(name).name.startswith(".")] \
            if goal.exists() else []
        wanted = self.good[md5(machine.given[path]).hexdigest()]
        if any(digest != wanted for digest in found):
            raise Broken(f"{path} was restored with other bytes")
        if code == 0 and found != [wanted]:
            raise Broken(f"restore of {path} ends with 0, and saved {len(found)} files")

    def do_cleanup(self, who, machine, draw):
        machine.say(self.lines, who, "cleanup")

    def do_verify(self, who, machine, draw):
        machine.say(self.lines, who, "verify", "--percent", 10)

    def do_projects(self, who, machine, draw):
        code, output = machine.say(self.lines, who, "projects", "list", "--json")
        if code == 0:
            json.loads(output)

    def do_delete(self, who, machine, draw):
        if len(machine.projects_left) < 2:
            return
        name = draw.choice(sorted(machine.projects_left))
        machine.projects_left.discard(name)
        code, _ = machine.say(self.lines, who, "projects", "delete", name, "--yes")
        if code == 0:
            self.deleted.add(name)
            self.while_there(self.check_deleted, name)
        elif code != 66:
            self.pending_deletes = getattr(self, "pending_deletes", set()) | {name}

    # What must hold.

    def while_there(self, check, *arguments, **named):
        """What a check finds, but where the store came or went while it looked: it has seen neither then."""
        moves = self.moves
        try:
            check(*arguments, **named)
        except (Broken, ServerError, OSError):
            if moves == self.moves and not self.away:
                raise

    def check_share(self, name):
        folder = f"shares/{name}"
        there = self.place.objects()
        key = f"{folder}/vacation.json"
        if key not in there:
            raise Broken(f"the share {name} is called live, and has no manifest")
        manifest = json.loads(self.place.get(key))
        for photo in manifest["photos"]:
            if there.get(f"{folder}/{name}_{photo['orderIndex']}.jpg") != photo["sha256"]:
                raise Broken(f"photo {photo['orderIndex']} of the share {name} is not there as its manifest says")
        if f"{folder}/index.html" not in there:
            raise Broken(f"the share {name} has no page")

    def check_revoked(self, name):
        if left := [key for key in self.place.listing() if key.startswith(f"shares/{name}/")]:
            raise Broken(f"the share {name} is revoked, and {left[0]} is there")

    def check_deleted(self, name):
        if f"users/ana/projects/{name}.jpg" in self.place.listing():
            raise Broken(f"the project {name} is deleted, and its image is in the store")

    def check_claims(self, machine, all_of=False):
        """What is called stored is there; a claim is older than the look at the store."""
        claims = machine.claims()
        there = self.place.objects()
        for path, (state, key) in claims.items():
            if path not in machine.given:
                if all_of and state not in ("uploaded", "skipped") and not path.startswith("Projects/"):
                    raise Broken(f"on {machine.name}, {path} is {state}")
                continue
            if state == "uploaded":
                digest = md5(machine.given[path]).hexdigest()
                if key != f"users/ana/photos/{digest}.dat":
                    raise Broken(f"on {machine.name}, {path} is called stored under {key}")
                if there.get(key) != self.good[digest]:
                    raise Broken(f"on {machine.name}, {path} is called stored, and {key} "
                                 f"{'has other bytes' if key in there else 'is not there'}")
            elif all_of:
                raise Broken(f"on {machine.name}, {path} is {state}")
        if all_of and (missing := machine.given.keys() - claims.keys()):
            raise Broken(f"on {machine.name}, nothing is known of {sorted(missing)[0]}")

    def watch(self):
        """While all runs."""
        while not self.over.wait(0.5):
            for machine in self.machines.values():
                try:
                    self.while_there(self.check_claims, machine)
                    self.looks += 1
                except (Broken, ServerError, OSError) as error:
                    self.fail(f"while it runs: {error}")
                    return

    def check_all(self):
        """At a quiet point."""
        for machine in self.machines.values():
            machine.alive()
            for path, data in machine.given.items():
                goal = machine.pictures / path
                if not goal.exists() or goal.read_bytes() != data:
                    raise Broken(f"on {machine.name}, {path} is gone, or another one")
            if machine.name in NAMES:
                self.check_claims(machine, all_of=True)
                self.check_events(machine)
                self.check_open(machine)
        there = self.place.objects()
        self.check_reasons(there)
        self.check_vacations(there)
        live = {}
        for machine in self.machines.values():
            for share in json.loads(machine.ask("shares", "--json"))["shares"]:
                # Each machine lists those of the others, too.
                if share["state"] == "live" and share["machine"]["isThis"]:
                    if share["shareId"] in live:
                        raise Broken(f"the share {share['shareId']} has two owners")
                    live[share["shareId"]] = machine.name
                    self.check_share(share["shareId"])
                elif share["state"] in ("revoked", "expired"):
                    self.check_revoked(share["shareId"])
        for name in self.revoked:
            self.check_revoked(name)
        for name in self.deleted:
            self.check_deleted(name)

    def check_open(self, machine):
        """A descriptor that is never closed is one more for each photo, until none is left."""
        if machine.agent and (left := machine.left_open(None if self.proxy else self.path)):
            raise Broken(f"the agent of {machine.name} has nothing to do, and {len(left)} files open, such as {left[0]}")

    def check_reasons(self, there):
        """Each object has one reason to be there; no photo is there twice."""
        photos = {f"users/ana/photos/{digest}.dat" for digest in self.good}
        wrong = [key for key in there if key.startswith("users/ana/photos/") and key not in photos]
        if wrong:
            raise Broken(f"nobody has the photo {wrong[0]}")
        copies = Counter(digest for key, digest in there.items() if key.startswith("users/ana/photos/"))
        # Two photos that differ in a comment alone may have one stored copy.
        due = Counter(self.good.values())
        twice = [digest for digest, count in copies.items() if count > due[digest]]
        if twice:
            raise Broken(f"{len(twice)} photos are in the store twice")
        archived = sorted(key for key in there if key.startswith("gallery-archive/"))
        if any(key.rpartition("/")[2] not in ("ev-0.jpg", "ev-1.jpg") for key in archived) or len(archived) > 2:
            raise Broken(f"the archive has {archived}")
        known = {share["shareId"] for machine in self.machines.values()
                 for share in json.loads(machine.ask("shares", "--json"))["shares"]}
        strangers = {key.split("/")[1] for key in there if key.startswith("shares/")}
        # What tells that one was revoked.
        strangers |= {key.split("/")[3].split(".")[0] for key in there if key.startswith("users/ana/shares/")}
        strangers -= known
        if strangers:
            raise Broken(f"nobody knows the share {sorted(strangers)[0]}")
        starts = ("users/ana/photos/", "users/ana/vacations/", "users/ana/projects/", "users/ana/shares/", "gallery-archive/ana/",
                  "shares/")
        if other := [key for key in there if not key.startswith(starts)]:
            raise Broken(f"nobody knows why {other[0]} is there")
        if left := self.place.uploads():
            raise Broken(f"{len(left)} uploads are left, of {left[0]}")

    def check_vacations(self, there):
        """Each trip of each machine has a manifest, which names its photos and no others."""
        manifests = {}
        for key in there:
            if key.startswith("users/ana/vacations/"):
                text = self.place.get(key).decode()
                json.loads(text)
                manifests[key] = {digest for digest in self.good if digest in text}
                for digest in manifests[key]:
                    if f"users/ana/photos/{digest}.dat" not in there:
                        raise Broken(f"{key} names a photo that is not there")
        for name in NAMES:
            machine = self.machines[name]
            for trip in TRIPS:
                wanted = {md5(data).hexdigest() for path, data in machine.given.items() if f"/{trip}/" in path}
                if wanted and wanted not in manifests.values():
                    near = sorted((len(wanted ^ found), key) for key, found in manifests.items())[:1]
                    raise Broken(f"no manifest has the {len(wanted)} photos of {trip} on {name} (next: {near})")

    def check_events(self, machine):
        path = machine.pictures / "Gallery/events.json"
        if not path.exists():
            return
        text = path.read_text()
        if "words-2" not in text:
            raise Broken(f"on {machine.name}, the text of a young event is gone")
        there = self.place.objects()
        for number in (0, 1):
            keys = [key for key in there if key.startswith("gallery-archive/") and key.endswith(f"/ev-{number}.jpg")]
            if f"words-{number}" not in text and not keys:
                raise Broken(f"on {machine.name}, the text of ev-{number} is gone, and its photo is not in the archive")

    # The course of it.

    def fate(self, fate):
        if "bad" in fate and self.proxy:
            self.proxy.play(Plan(self.draw.random(), BAD, 0.3, 2))
        if "kill" in fate:
            for name in self.draw.sample(NAMES, self.draw.randint(1, 2)):
                self.machines[name].end(9)
        if fate == "away":
            self.leave(True)

    away, moves = False, 0

    def leave(self, away):
        """The store goes, or comes back."""
        if away == self.away:
            return
        # Who looks at the store meanwhile sees neither.
        self.away, self.moves = True, self.moves + 1
        self.carry(away)
        self.away, self.moves = away, self.moves + 1

    def carry(self, away):
        if self.proxy:
            self.proxy.away = away
        elif away and self.path.exists():
            self.path.rename(self.folder / "gone")
        elif not away and (self.folder / "gone").exists():
            if self.path.exists():
                raise Broken("a store was made where another one was, while that was away")
            (self.folder / "gone").rename(self.path)

    def quiet(self):
        """No more faults: waits until all that was given is stored."""
        self.leave(False)
        if self.proxy:
            self.proxy.play(Plan(0))
        for name in NAMES:
            self.machines[name].start()
        if self.d.given:
            self.d.ask("retry")
            self.d.ask("sync", accept=(0, 3))
        last, since = None, time.monotonic()
        while True:
            now = []
            for name in NAMES:
                machine = self.machines[name]
                machine.alive()
                machine.ask("retry", accept=(0, 66, 69))
                claims = machine.claims()
                now.append(sum(state == "uploaded" for path, (state, _) in claims.items() if path in machine.given))
                vacations = json.loads(machine.ask("status", "--json"))["vacations"]
                for vacation in vacations:
                    # What came after it was shared is shown when somebody shares it again.
                    if vacation["state"] == "changed" and vacation["shareChangedBy"]:
                        trip = next(trip for trip in TRIPS if vacation["startDate"] in trip)
                        machine.say(self.lines, "whoever waits", "share", trip, "--yes")
                now.append(sum(vacation["state"] in ("stored", "shared") for vacation in vacations) - len(vacations))
            if now == [value for name in NAMES for value in (len(self.machines[name].given), 0)]:
                return
            if now != last:
                last, since = now, time.monotonic()
            if time.monotonic() - since > PATIENCE:
                why = {name: Counter(state for state, _ in self.machines[name].claims().values()) for name in NAMES}
                raise Broken(f"it does not become quiet: {now}, {why}")
            time.sleep(0.5)

    def run(self):
        waves = self.options.waves
        self.a.give_projects(6)
        for name in ("a", "b"):
            self.machines[name].give_events()
        for name in NAMES:
            self.machines[name].start()
        shared = list(self.deal.files["a"].items())[: max(8, len(self.deal.files["a"]) // 4)]
        for path, data in shared:
            self.d.give(path.replace("Gallery/a-", "Gallery/d-"), data)
        watching = threading.Thread(target=self.watch, daemon=True)
        watching.start()
        try:
            for wave in range(waves):
                self.wave(wave, waves)
                if wave % 2 == 1 or wave == waves - 1:
                    self.quiet()
                    self.check_all()
                    self.lines.append("quiet, and checked")
            self.over.set()
            for name in NAMES:
                code = self.machines[name].end()
                if code != 0:
                    raise Broken(f"the agent of {name} ends with {code} when it is told to")
        except (Broken, ServerError) as error:
            self.fail(str(error))
        finally:
            self.over.set()
            watching.join()
            for machine in self.machines.values():
                machine.end(9)
            if self.proxy:
                self.proxy.close()
                self.bucket.empty()
        return not self.broken

    def wave(self, wave, waves):
        fate = self.draw.choice(FATES)
        self.counts[fate] += 1
        self.lines.append(f"wave {wave}: {fate}")
        for name in NAMES:
            self.machines[name].start()
        people = [threading.Thread(target=self.person, args=(who, machine, random.Random(f"{self.seed} {wave} {who}"),
                                                              self.options.commands))
                  for who, machine in (("first", self.a), ("second", self.d))]
        for thread in people:
            thread.start()
        files = {name: list(self.deal.files[name].items())[wave::waves] for name in NAMES}
        for step in range(max(map(len, files.values()))):
            for name in NAMES:
                if step < len(files[name]):
                    self.machines[name].give(*files[name][step])
            if step == len(files["a"]) // 3:
                self.fate(fate)
            time.sleep(0.005)
        for thread in people:
            thread.join()

    def keep(self, goal):
        goal = Path(goal) / f"{self.seed}"
        shutil.rmtree(goal, ignore_errors=True)
        goal.mkdir(parents=True)
        (goal / "history").write_text("\n".join(self.lines) + "\n")
        for name, machine in self.machines.items():
            shutil.copytree(machine.slot, goal / name, symlinks=True)
