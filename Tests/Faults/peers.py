"""The same files, to the same keys, under the same faults: the program, `aws s3 sync` and `rclone copy`."""

import hashlib
import os
import random
import shutil
import subprocess
import time
from pathlib import Path

from homes import FIXTURES, Broken
from proxy import Plan, Proxy
from remote import RemoteHome, Run, Watch
from servers import ROOT, Bucket, environment_of

PHOTOS, FILMS = 200, (66 << 20, 20 << 20, 9 << 20)
# What is played together; each of it meets three of ten requests, twice in a row at most.
MIXES = {
    "none": (),
    "5xx, 429": ("500-before", "500-after", "502-html", "503-slow-down", "503-after", "504-after", "429", "429-retry-after"),
    "4xx": ("400", "400-after", "400-timeout", "403", "404", "405", "408", "409", "409-after", "410", "418"),
    "network": ("reset-before", "reset-in-request", "reset-after", "no-answer", "cut-answer", "long-length", "stall",
                "stall-in-answer", "twice", "twice-first"),
    "lies": ("200-error", "200-error-after", "200-empty", "portal", "206", "302", "307", "no-http"),
    "headers": ("other-tag", "no-tag", "no-metadata", "no-headers", "no-length", "clock"),
    "bytes": ("altered-request", "short-request"),
}
MIXES["all"] = tuple(fault for faults in MIXES.values() for fault in faults)


def numbered(data, number):
    """The same picture with a comment, so that it is another file."""
    comment = f"number {number}".encode()
    return data[:2] + b"\xff\xfe" + (len(comment) + 2).to_bytes(2, "big") + comment + data[2:]


class LargeHome(RemoteHome):
    """A gallery of photos, and films that go up in parts."""

    def grow(self):
        super().grow()
        shutil.rmtree(self.pictures)
        (self.pictures / "Gallery").mkdir(parents=True)
        for kind in ("Vacations", "Projects"):
            (self.pictures / kind).mkdir()
        fixtures = [path.read_bytes() for path in sorted(FIXTURES.glob("*.jpg")) if path.name.startswith(("size-", "orient"))]
        for number in range(PHOTOS):
            data = numbered(fixtures[number % len(fixtures)], number)
            (self.pictures / f"Gallery/photo-{number:03}.jpg").write_bytes(data)
        for number, size in enumerate(FILMS):
            start = b"\0\0\0\x18ftypmp42\0\0\0\0mp42isom"
            data = start + random.Random(number).randbytes(size - len(start))
            (self.pictures / f"Gallery/film-{number}.mp4").write_bytes(data)


def programs():
    """`aws` and `rclone`, installed where they are missing: without one of them the table would lack a column."""
    subprocess.run([ROOT / "scripts/setup", "peers"], check=True)
    aws, rclone = shutil.which("aws"), ROOT / ".build-servers/rclone/venv/bin/rclone"
    if not aws:
        raise SystemExit("bad-store: aws is missing: scripts/setup peers")
    if not rclone.exists():
        subprocess.run([ROOT / "scripts/test-servers", "run", "true"], check=True, stdout=subprocess.DEVNULL)
    return aws, rclone


class Race:
    """Who gets what to the store, and what it says of it."""

    def __init__(self, folder, binary, server, seed):
        self.folder, self.binary, self.server, self.seed, self.number = folder, binary, server, seed, 0
        self.aws, self.rclone = programs()

    def place(self):
        """A bucket and a proxy before it."""
        self.number += 1
        bucket = Bucket(self.server, f"race-{self.number}")
        bucket.make()
        return bucket, Proxy(self.server)

    def measure(self):
        """A run without a fault: which keys, which bytes; and the same as files for the others."""
        bucket, proxy = self.place()
        home = LargeHome(self.folder / "good", self.binary, proxy, bucket)
        home.grow()
        home.ask("sync")
        self.good = bucket.objects()
        self.tree = self.folder / "tree"
        for key in self.good:
            (self.tree / key).parent.mkdir(parents=True, exist_ok=True)
            (self.tree / key).write_bytes(bucket.get(key))
        for key, digest in self.good.items():
            if hashlib.sha256((self.tree / key).read_bytes()).hexdigest() != digest:
                raise Broken(f"{key} is read otherwise a second time")
        proxy.close()
        bucket.empty()

    def peers(self):
        return {
            "sync-agent": None,
            "aws": lambda port, name: [
                self.aws, "s3", "sync", "--only-show-errors", "--endpoint-url", f"http://127.0.0.1:{port}", str(self.tree),
                f"s3://{name}"],
            "rclone": lambda port, name: [
                str(self.rclone), "copy", "-q", str(self.tree),
                f':s3,provider=Other,env_auth=true,force_path_style=true,endpoint="http://127.0.0.1:{port}":{name}'],
        }

    def state(self, bucket):
        """(right, wrong, missing)."""
        there = bucket.objects()
        right = sum(there.get(key) == digest for key, digest in self.good.items())
        missing = sum(key not in there for key in self.good)
        extra = len(there.keys() - self.good.keys())
        return right, len(self.good) - right - missing + extra, missing

    def go(self, name, command, mix):
        """One of them under one mix, and then once more without a fault."""
        bucket, proxy = self.place()
        plan = Plan(self.seed, MIXES[mix], 0.3, 2)
        began, broken = time.monotonic(), []
        if command is None:
            home = LargeHome(self.folder / f"agent-{self.number}", self.binary, proxy, bucket)
            home.grow()
            proxy.play(plan)
            with Watch(home, self.good) as watch:
                run = Run(home, ["sync"])
            code, said = run.code, run.said
            for check in (run.check, watch.check):
                try:
                    check()
                except Broken as error:
                    broken.append(str(error))
        else:
            environment = environment_of(self.server) | {"HOME": str(self.folder), "RCLONE_CONFIG": "/dev/null"}
            proxy.play(plan)
            done = self.run(command(proxy.port, bucket.name), environment)
            code, said = done.returncode, done.stderr
        seconds, requests = time.monotonic() - began, proxy.count()
        first = self.state(bucket)
        proxy.play(Plan(0))
        if command is None:
            claims = [key for state, key in home.claims().values() if state == "uploaded"]
            there = bucket.objects()
            broken += [f"{key} is called stored, and is not" for key in claims if there.get(key) != self.good[key]]
            again = Run(home, ["sync"])
            second_code = again.code
            if second_code == 0 and self.state(bucket) != (len(self.good), 0, 0):
                broken.append("after the second run, which ends with 0, something is wrong")
            if second_code != 0:
                broken.append(f"the second run ends with {second_code}: {again.said[-300:]}")
            if bucket.uploads():
                broken.append(f"{len(bucket.uploads())} uploads are left")
            shutil.rmtree(home.slot)
        else:
            second_code = self.run(command(proxy.port, bucket.name), environment).returncode
        second = self.state(bucket)
        if command is None and code == 0 and first != (len(self.good), 0, 0):
            broken.append("it ends with 0, and something is wrong")
        proxy.close()
        bucket.empty()
        return Row(name, mix, plan.met.total(), requests, seconds, code, first, second_code, second, broken, said)

    @staticmethod
    def run(command, environment):
        return subprocess.run(command, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              errors="replace", timeout=1800)


class Row:
    HEAD = (f"{'faults':10}{'who':12}{'met':>6}{'requests':>10}{'seconds':>9}{'code':>6}{'right':>7}{'wrong':>7}"
            f"{'missing':>9}   then:{'code':>6}{'right':>7}{'wrong':>7}{'missing':>9}")

    def __init__(self, name, mix, met, requests, seconds, code, first, again, second, broken, said):
        self.name, self.broken, self.said = name, broken, said
        self.line = (f"{mix:10}{name:12}{met:6}{requests:10}{seconds:9.0f}{code:6}{first[0]:7}{first[1]:7}{first[2]:9}"
                     f"        {again:6}{second[0]:7}{second[1]:7}{second[2]:9}")


def race(folder, binary, server, seed, only=None):
    """Prints the table; whether the program has kept its promises."""
    os.makedirs(folder, exist_ok=True)
    field, kept = Race(Path(folder), binary, server, seed), True
    field.measure()
    print(f"{len(field.good)} objects, seed {seed}\n{Row.HEAD}", flush=True)
    for mix in MIXES if only is None else [only]:
        for name, command in field.peers().items():
            row = field.go(name, command, mix)
            print(row.line, flush=True)
            for why in row.broken[:5]:
                kept = False
                print(f"FAILED {mix}: {why} [{' '.join(row.said.split())[-300:]}]", flush=True)
    return kept
