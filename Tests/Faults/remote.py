"""The workflows of scripts/fault-sweep with a store on the other side of a network."""

import json
import os
import signal
import subprocess
import threading
import time
from pathlib import Path

import workflows
from homes import Broken, Home, files_below, wait_until
from servers import ServerError, environment_of

# The exit codes of docs/commands.md; all others are crashes.
CODES = {0, 1, 3, 64, 66, 69, 75, 77, 78}
# Seconds in which a run has neither worked nor asked the store anything, and is said to hang.
PATIENCE = 100


class RemoteHome(Home):
    """A home whose store is a bucket behind a proxy. `store` is a picture of the bucket, for the judge."""

    def __init__(self, slot, binary, proxy, bucket, more=""):
        super().__init__(slot, binary, more)
        self.proxy, self.bucket = proxy, bucket
        self.environment |= environment_of(bucket.server)
        self.environment["HOME"] = str(self.folder)

    def store_settings(self):
        return (f"{{type: s3, bucket: {self.bucket.name}, endpoint: 'http://127.0.0.1:{self.proxy.port}', "
                f"region: us-east-1, addressing: path}}")

    def objects(self):
        self.bucket.picture(self.store / "objects")
        return self.bucket.objects()

    def has(self, keys):
        return set(keys) <= set(self.bucket.listing())

    def traces(self, key):
        return [key] if key in self.bucket.listing() else []

    def shared(self):
        self.bucket.picture(self.store / "objects")
        return super().shared()

    def rot(self, key):
        data = bytearray(self.bucket.get(key))
        data[len(data) // 2] ^= 255
        self.bucket.put(key, bytes(data))

    def lose(self, key):
        self.bucket.delete(key)


class Run:
    """How a run of the program ended, or that it did not."""

    def __init__(self, home, words, drive=None, name="run"):
        said = home.slot / f"{name}.err"
        with open(home.slot / f"{name}.out", "wb") as output, open(said, "wb") as errors:
            process = subprocess.Popen(home.command(*words), env=home.environment, stdin=subprocess.DEVNULL, stdout=output,
                                       stderr=errors, start_new_session=True)
        self.hang, self.stopped = None, False
        try:
            if drive:
                self.stopped = drive(process)
            last, since = None, time.monotonic()
            while process.poll() is None and not self.hang:
                try:
                    process.wait(timeout=0.5)
                except subprocess.TimeoutExpired:
                    now = (self.ticks(process.pid), home.proxy.count())
                    if now != last:
                        last, since = now, time.monotonic()
                    if time.monotonic() - since > PATIENCE:
                        self.hang = f"it does nothing for {PATIENCE} s"
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        self.code, self.said = process.returncode, said.read_text(errors="replace")

    @staticmethod
    def ticks(pid):
        try:
            return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:13]
        except OSError:
            return None

    def check(self):
        """Raises Broken for an end that no run may have."""
        if self.hang:
            raise Broken(self.hang)
        if self.code not in CODES and not (self.stopped and self.code in (-signal.SIGTERM, 143)):
            raise Broken(f"it crashes: {self.code}")


class Watch:
    """Asks again and again what is called stored, and looks whether it is there."""

    def __init__(self, home, good):
        self.home, self.good, self.broken, self.looks = home, good, None, 0
        self.over = threading.Event()
        self.thread = threading.Thread(target=self.work, daemon=True)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        self.thread.join()

    def work(self):
        while not self.over.wait(0.2):
            try:
                claims = self.home.claims()
                there = self.home.bucket.listing()
            except (Broken, ServerError, json.JSONDecodeError, subprocess.TimeoutExpired) as error:
                self.broken = self.broken or f"while it runs: {error}"
                continue
            self.looks += 1
            for path, (state, key) in claims.items():
                if state != "uploaded" or not key:
                    continue
                if key not in there:
                    self.broken = self.broken or f"while it runs, {path} is called stored, and {key} is not in the store"
                elif key in self.good and self.home.bucket.digest(key, there[key][0]) != self.good[key]:
                    self.broken = self.broken or f"while it runs, {path} is called stored, and {key} has other bytes"

    def check(self):
        if self.broken:
            raise Broken(self.broken)


class Remote:
    """What a workflow has beside its promises when its store is far away."""

    # Whether nothing that is called stored is taken away by it, so that it can be watched.
    only_adds = False
    # Whether the first faulted command leaves something that a second one is to do, under the same faults.
    then = ()

    def remote_home(self, slot, binary, proxy, bucket):
        return RemoteHome(slot, binary, proxy, bucket, self.more)

    def attempt(self, home):
        """The run, under the plan that the proxy plays."""
        run = Run(home, self.words(home), lambda process: self.drive(home, process, 5))
        return run


def remote(kind, **more):
    return type(f"Remote{kind.__name__}", (Remote, kind), more)


class Agent(Remote, workflows.Run):
    only_adds = True

    def drive(self, home, process, patience):
        wanted = workflows.POOL | workflows.PROJECT_OBJECTS
        said = home.slot / "run.err"
        watches = wait_until(lambda: process.poll() is not None or "watching" in said.read_text(errors="replace"), 60)
        wait_until(lambda: process.poll() is not None or wanted <= home.bucket.listing().keys(), patience)
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
        return not watches

    def learn(self, home):
        super().learn(home)
        key = workflows.key_of(workflows.LATER[1])
        self.good.pop(key, None)

    def mend(self, home):
        home.ask("sync")
        home.ask("cleanup")


class ArchivedRestore(Remote, workflows.Restore):
    """moto restores at once; the agent looks when it is told to."""

    more = "tiers: {mode: agent, archive_after_days: 0, minimum_archive_bytes: 0}\n"

    def words(self, home):
        return ["restore", "--yes", "--output", home.out, home.pictures / "Gallery", home.pictures / "Vacations"]

    def drive(self, home, process, patience):
        return False

    def mend(self, home):
        home.ask(*self.words(home), accept=(0, 3))
        self.follow(home)

    def follow(self, home):
        """Until all is saved; what a killed process had claimed is free after half a minute."""
        def is_saved():
            home.ask("restores", "--refresh", accept=(0, 3))
            return len([path for path in home.out.rglob("*.jpg") if not path.name.startswith(".")]) == 7

        if not wait_until(is_saved, 120):
            raise Broken("what was restored is not saved")

    def done(self, home):
        """Readable is not saved yet: only the last word counts."""

    def judge(self, home, code, final=False):
        super().judge(home, code, final)
        if final:
            self.outputs_done(home)


class Saving(ArchivedRestore):
    name = "saving"

    def prepare(self, home):
        super().prepare(home)
        home.ask(*super().words(home), accept=(0, 3))

    def words(self, home):
        return ["restores", "--refresh"]

    def mend(self, home):
        self.follow(home)


class Fetching(Remote, workflows.Mirror):
    """From the links of a share that the store has signed."""

    def home(self, slot, binary):
        raise NotImplementedError

    def prepare(self, home):
        home.ask("sync")
        self.links = getattr(self, "links", {})
        self.links[home.slot] = json.loads(home.ask("share", workflows.TRIP, "--yes", "--json"))["link"]

    def words(self, home):
        return ["mirror", self.links[home.slot], home.out]

    def learn(self, home):
        super().learn(home)
        self.expected = {"out": {name: digest for name, digest in files_below(home.out).items() if name.endswith(".jpg")}}

    def judge_outputs(self, home):
        path = home.out / "vacation.json"
        if path.exists():
            try:
                json.loads(path.read_text())
            except ValueError as error:
                raise Broken(f"out/vacation.json is no JSON: {error}") from error
        for name, digest in (files_below(home.out) if home.out.exists() else {}).items():
            if name.endswith(".jpg") and self.expected["out"].get(name) != digest:
                raise Broken(f"out/{name} is not whole, or nobody asked for it")


class Verifying(Remote, workflows.Verify):
    def prepare(self, home):
        home.ask("sync")
        self.before = home.bucket.objects()
        key = workflows.key_of(workflows.PHOTOS[self.rotten])
        answer, data = home.bucket.server.ask("GET", home.bucket.path(key))
        rotten = bytearray(data)
        rotten[len(rotten) // 2] ^= 255
        kept = {name: value for name, value in answer.getheaders() if name.lower().startswith("x-amz-meta-")}
        home.bucket.put(key, bytes(rotten), kept | {"Content-Type": answer.getheader("Content-Type")})
        home.bucket.delete(workflows.key_of(workflows.PHOTOS[self.missing]))
        (home.pictures / self.alone).unlink()


class Refresh(Remote, workflows.Workflow):
    """Holds the ledger against the listing: nothing that is there may be told as gone, nothing gone as there."""

    name = "refresh"

    def prepare(self, home):
        home.ask("sync")

    def words(self, home):
        return ["status", "--refresh"]

    def mend(self, home):
        home.ask("sync")

    def done(self, home):
        for path, (state, _) in home.claims().items():
            if state in ("lost", "missing", "failed"):
                raise Broken(f"{path} is {state}, and it is there")


REMOTE = (
    remote(workflows.Workflow, only_adds=True), Agent, ArchivedRestore, Saving, remote(workflows.Share),
    remote(workflows.Revoke), Fetching, remote(workflows.Cleanup), remote(workflows.ProjectsDelete), Verifying,
    remote(workflows.ArchiveZip), Refresh)
