"""Several machines of one user, each with a home and a ledger of its own, and one store for all."""

import base64
import json
import os
import random
import shutil
import signal
import subprocess
import time
from datetime import datetime, timedelta, timezone
from hashlib import md5, sha256
from pathlib import Path

from homes import OF_MACHINES, FIXTURES, Broken, Home, records_below
from peers import numbered
from remote import CODES, PATIENCE, Run
from servers import environment_of

TRIPS = ("Paris_France_2024-06-15_2024-06-16", "Rome_Italy_2023-05-01_2023-05-03", "Oslo_2022-12-24")
OLD, YOUNG = 120, 2
# At what an agent has open, a tenth of a second apart.
LOOKS = 50


class Deal:
    """Which photo goes to which machine, under which name: half of each machine's are the same bytes on all of them."""

    def __init__(self, seed, machines, count):
        draw = random.Random(f"{seed} deal")
        sources = [path.read_bytes() for path in sorted(FIXTURES.glob("size-*.jpg"))]
        self.files = {name: {} for name in machines}
        shared = [numbered(draw.choice(sources), number) for number in range(count // 2)]
        for place, machine in enumerate(machines):
            own = [numbered(draw.choice(sources), 100_000 * (place + 1) + number) for number in range(count - len(shared))]
            photos = [(data, True) for data in shared] + [(data, False) for data in own]
            for number, (data, is_shared) in enumerate(photos):
                # The first trip is the same one on all; the second one has the same name, and other photos.
                if number < 6 and is_shared:
                    path = f"Vacations/{TRIPS[0]}/{number}.jpg"
                elif not is_shared and number % 10 == 0:
                    path = f"Vacations/{TRIPS[1 + number // 10 % 2]}/{machine}-{number}.jpg"
                else:
                    path = f"Gallery/{machine}-{number}.jpg"
                self.files[machine][path] = data

    def all(self):
        """{MD5: bytes} of all photos."""
        return {md5(data).hexdigest(): data for files in self.files.values() for data in files.values()}


def events():
    """An old one and a young one, the same on each machine that has them."""
    now, found = datetime.now(timezone.utc), []
    for number, days in enumerate((OLD, OLD, YOUNG)):
        data = numbered((FIXTURES / "size-8x8.jpg").read_bytes(), 900_000 + number)
        found.append({"id": f"ev-{number}", "userId": "ana", "profileId": "grandpa", "eventType": "taskResponse",
                      "createdAt": (now - timedelta(days=days)).strftime("%Y-%m-%dT%H:00:00Z"), "text": f"words-{number}",
                      "photoData": base64.b64encode(data).decode()})
    return found


class Machine(Home):
    """A home with folders that fill, and an agent that is started and killed."""

    def __init__(self, slot, binary, name, server, port, place):
        super().__init__(slot, binary)
        self.name, self.place = name, place
        self.agent, self.log, self.lives, self.server = None, None, 0, server
        self.given = {}
        if server:
            self.environment |= environment_of(server) | {"HOME": str(self.folder)}
        store = (f"{{type: s3, bucket: {place}, endpoint: 'http://127.0.0.1:{port}', region: us-east-1, addressing: path}}"
                 if server else f"{{type: directory, path: {place}, restore_seconds: 0}}")
        for kind in ("Gallery", "Vacations", "Projects"):
            (self.pictures / kind).mkdir(parents=True)
        watch = "".join(f"  - {{kind: {kind.lower()}, path: {self.pictures}/{kind}}}\n"
                        for kind in (("Gallery", "Vacations", "Projects") if name == "a" else ("Gallery", "Vacations")))
        config = self.folder / "config.yaml"
        config.write_text(f"user: ana\nstore: {store}\nwatch:\n{watch}upload: {{settle_seconds: 0}}\n")
        os.chmod(config, 0o600)
        self.projects_left = set()

    def count(self):
        return 0

    # What is there.

    def give(self, path, data):
        """Moves a whole file in, as programs do."""
        goal = self.pictures / path
        goal.parent.mkdir(parents=True, exist_ok=True)
        part = self.folder / "incoming"
        part.write_bytes(data)
        part.rename(goal)
        self.given[path] = data

    def give_events(self):
        (self.pictures / "Gallery/events.json").write_text(json.dumps(events(), indent=1))

    def give_projects(self, count):
        folder = self.pictures / "Projects"
        records = []
        for number in range(count):
            data = numbered((FIXTURES / "size-7x9.jpg").read_bytes(), 800_000 + number)
            (folder / f"p{number}.jpg").write_bytes(data)
            records.append({"id": f"p{number}", "templateId": f"t-{number}", "templateName": "Sketch",
                            "createdAt": 1781000000 + 1000 * number, "status": "Completed", "requestId": f"r-{number}"})
            self.projects_left.add(f"p{number}")
        (folder / "projects.json").write_text(json.dumps(records, indent=1))

    # The agent.

    def start(self):
        if self.agent and self.agent.poll() is None:
            return
        self.lives += 1
        self.log = open(self.slot / f"agent-{self.lives}", "wb")
        self.agent = subprocess.Popen(self.command("run"), env=self.environment, stdin=subprocess.DEVNULL, stdout=self.log,
                                      stderr=self.log, start_new_session=True)

    def end(self, number=signal.SIGTERM):
        """The code that it ends with."""
        if not self.agent:
            return 0
        if self.agent.poll() is None:
            self.agent.send_signal(number)
        try:
            code = self.agent.wait(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            self.agent.kill()
            self.agent.wait()
            raise Broken(f"the agent of {self.name} does not end within {PATIENCE} s of SIGTERM") from None
        self.log.close()
        self.agent = None
        return code

    def alive(self):
        """Raises Broken when it has ended although nobody wanted that."""
        if self.agent and self.agent.poll() is not None:
            said = (self.slot / f"agent-{self.lives}").read_text(errors="replace")[-500:]
            raise Broken(f"the agent of {self.name} has ended with {self.agent.returncode}: {said}")

    def left_open(self, store=None):
        """Photos, objects and files without a name that an agent keeps open while nothing is to be done. What it has in hand
        for a moment, as when a share is renewed, is gone at one of the next looks.

        - store: where its store is, when that is a folder.
        """
        folder, places = Path(f"/proc/{self.agent.pid}/fd"), tuple(f"{place}/" for place in (self.pictures, store) if place)
        left = None
        for _ in range(LOOKS):
            found = set()
            for one in folder.iterdir():
                try:
                    target = os.readlink(one)
                except FileNotFoundError:
                    continue
                if target.startswith("/") and (target.startswith(places) or target.endswith(" (deleted)")):
                    found.add((one.name, target))
            left = found if left is None else left & found
            if not left:
                return []
            time.sleep(0.1)
        return sorted(target for _, target in left)

    def say(self, history, who, *words):
        """A command of a person: (code, standard output)."""
        number = len(history)
        run = Run(self, list(map(str, words)), name=f"{who}-{number}")
        output = (self.slot / f"{who}-{number}.out").read_text(errors="replace")
        history.append(f"{who} on {self.name}: {' '.join(map(str, words))} -> {run.code} {' '.join(run.said.split())[-200:]}")
        if run.hang:
            raise Broken(f"`{words[0]}` on {self.name}: {run.hang}")
        if run.code not in CODES:
            raise Broken(f"`{words[0]}` on {self.name} crashes with {run.code}: {run.said[-500:]}")
        return run.code, output

    @property
    def proxy(self):
        """What Run asks for signs of progress."""
        return self


def good_copies(folder, binary, deal):
    """{MD5 of a photo: SHA-256 of its stored copy}, as one machine alone stores them."""
    home = Machine(folder / "alone", binary, "alone", None, 0, folder / "alone/home/store")
    for digest, data in deal.all().items():
        (home.pictures / f"Gallery/{digest}.jpg").write_bytes(data)
    home.give_events()
    home.ask("sync")
    found = {key.rpartition("/")[2].removesuffix(".dat"): digest for key, digest in home.objects().items()
             if key.startswith("users/ana/photos/")}
    shutil.rmtree(home.slot)
    return found


class RemotePlace:
    """What all machines store to: a bucket."""

    def __init__(self, bucket):
        self.bucket = bucket

    def objects(self):
        return self.bucket.objects()

    def listing(self):
        return set(self.bucket.listing())

    def get(self, key):
        return self.bucket.get(key)

    def uploads(self):
        return self.bucket.uploads()


class LocalPlace:
    """The embedded store, on a disk that all machines reach."""

    def __init__(self, path):
        self.path = path

    def objects(self):
        found = {}
        for path in records_below(self.path):
            try:
                record = json.loads(path.read_text())
                if not OF_MACHINES.search(record["key"]):
                    found[record["key"]] = sha256((self.path / "objects" / record["file"]).read_bytes()).hexdigest()
            except (ValueError, KeyError, FileNotFoundError):
                continue
        return found

    def listing(self):
        return set(self.objects())

    def get(self, key):
        return (self.path / "objects" / key).read_bytes()

    def uploads(self):
        """What a killed process has left in `staging` is for whoever comes to it next, at no time that is promised."""
        return []
