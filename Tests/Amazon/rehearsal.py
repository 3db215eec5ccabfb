"""The trial against moto, judged from outside: what it says, what it leaves, what it asks for, what its report tells."""

import os
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from circle import STEPS, draw
from homes import wait_until
from plan import BOUNDS
from programs import OF_TESTS, program_for
from servers import Bucket, Server

ROOT = Path(__file__).resolve().parent.parent.parent
FOREIGN = {"family/oma erna.jpg": b"a photo of the family", "try-amazon-0/users/x": b"one more", "users/anna/photos/1.dat": b"1"}
RULE = (b'<LifecycleConfiguration xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Rule><ID>mine</ID><Filter><Prefix>family/'
        b"</Prefix></Filter><Status>Enabled</Status><Expiration><Days>900</Days></Expiration></Rule></LifecycleConfiguration>")
TOKEN = "IQoJb3JpZ2luX2VjEPT" + "0aB/x+" * 40
# Steps of which moto cannot do all.
BEYOND_MOTO = {"upload", "refusals", "rules", "restore"}


class Stage:
    """A moto with somebody else's bucket, and a home for the trial."""

    def __init__(self, script, binary, folder):
        self.script, self.binary, self.folder, self.wrong = script, binary, Path(folder), []
        self.server = Server.moto(folder)
        self.bucket = Bucket(self.server, "family-photos")
        self.bucket.make()
        for key, data in FOREIGN.items():
            self.bucket.put(key, data)
        self.server.ask("PUT", "/family-photos?lifecycle=", RULE)
        self.rules = self.server.ask("GET", "/family-photos?lifecycle=")[1]
        self.photos = self.folder / "photos"
        draw(self.photos)
        self.count = 0

    def expect(self, is_so, words):
        if not is_so:
            self.wrong.append(words)
            print(f"    wrong: {words}", flush=True)

    def command(self, *words):
        self.count += 1
        self.report = self.folder / f"report-{self.count}.md"
        return [sys.executable, self.script, "--endpoint", f"http://127.0.0.1:{self.server.port}", "--binary", self.binary,
                "--photos", self.photos, "--short", "--report", self.report, *words]

    def environment(self):
        home = self.folder / "home"
        home.mkdir(exist_ok=True)
        return {"PATH": os.environ["PATH"], "HOME": str(home), "XDG_STATE_HOME": str(home / "state"), "LC_ALL": "C.UTF-8",
                "AWS_ACCESS_KEY_ID": "ASIATESTTESTTEST0001", "AWS_SECRET_ACCESS_KEY": self.server.secret, "USER": "rosalinde",
                "AWS_SESSION_TOKEN": TOKEN, "AWS_REGION": "us-east-1", "AWS_EC2_METADATA_DISABLED": "true"}

    def run(self, *words, stop_in=None, after=0.0):
        """(exit code, what it said). `stop_in`: the step in whose midst Ctrl-C comes."""
        out = self.folder / f"said-{self.count + 1}"
        with open(out, "wb") as file:
            child = subprocess.Popen(self.command(*words), env=self.environment(), stdin=subprocess.DEVNULL, stdout=file,
                                     stderr=file, start_new_session=True)
        try:
            if stop_in:
                wait_until(lambda: f"{stop_in} …" in out.read_text(errors="replace") or child.poll() is not None, 120)
                time.sleep(after)
                if child.poll() is None:
                    child.send_signal(signal.SIGINT)
            code = child.wait(300)
        finally:
            if child.poll() is None:
                child.kill()
                child.wait()
        return code, out.read_text(errors="replace")

    def requests(self):
        """Those of the log of moto, by kind."""
        found = dict.fromkeys(BOUNDS, 0)
        log = re.sub(r"\x1b\[[0-9;]*m", "", (self.folder / "moto.log").read_text(errors="replace"))
        for method, query in re.findall(r'"([A-Z]+) /[^ ?"]*(\?\S*)? HTTP/', log):
            is_list = method == "GET" and re.search(r"[?&](list-type|versions|uploads|lifecycle|publicAccessBlock)=", query)
            kind = {"DELETE": "DELETE", "GET": "GET, HEAD", "HEAD": "GET, HEAD"}.get(method, "PUT, POST, COPY, LIST")
            found["PUT, POST, COPY, LIST" if is_list else kind] += 1
        return found

    def nothing_is_left(self):
        buckets = re.findall(rb"<Name>([^<]*)</Name>", self.server.ask("GET", "/")[1])
        self.expect(buckets == [b"family-photos"], f"buckets are left: {buckets}")
        there = {key: self.bucket.get(key) for key in self.bucket.listing()}
        self.expect(there == FOREIGN, f"the bucket of somebody else has other objects: {sorted(set(there) ^ set(FOREIGN))}")
        self.expect(not self.bucket.uploads(), "uploads in parts are left")
        self.expect(self.server.ask("GET", "/family-photos?lifecycle=")[1] == self.rules, "the rules of somebody else are others")
        kept = list((self.folder / "home/state").glob("*/*"))
        self.expect(not kept, f"folders are left: {kept}")
        shutil.rmtree(self.folder / "home", ignore_errors=True)

    def report_is_clean(self, said):
        if not self.report.exists():
            self.expect(False, f"there is no report: {said[-600:]}")
            return ""
        text = self.report.read_text()
        names = re.findall(r"sync-agent-trial-\w+|try-amazon-[0-9a-f]{16}|tester-\w+", said)
        hidden = [self.server.secret, "ASIATEST", TOKEN, TOKEN[:30], "family-photos", "rosalinde", "127.0.0.1", str(self.folder),
                  "Signature=", str(Path(self.binary).parent), *names]
        for secret in hidden:
            self.expect(secret.lower() not in text.lower(), f"the report tells {secret}")
        host = re.escape(socket.gethostname())
        self.expect(not re.search(rf"(?<!\w){host}(?!\w)", text), "the report tells the name of the host")
        return text


def whole(stage):
    """All steps, in a bucket that is made for them."""
    before = stage.requests()
    code, said = stage.run("--create-bucket", "--yes")
    after = stage.requests()
    stage.expect(code == 0, f"it ends with {code}: {said[-900:]}")
    text = stage.report_is_clean(said)
    for name, title in STEPS.items():
        row = re.search(rf"^\| {re.escape(title)} \| ([^|]*) \|", text, re.MULTILINE)
        wanted = "not supported here" if name in BEYOND_MOTO else "ok"
        if name != "large":
            stage.expect(row and row[1] == wanted, f"{title}: {row[1] if row else 'missing'}, not {wanted}")
    stage.nothing_is_left()
    for kind, bound in BOUNDS.items():
        count = after[kind] - before[kind]
        # What a film adds, and what repeats at a worse line, has room.
        stage.expect(0 < count <= bound * 0.8, f"{count} requests {kind}, and {bound} at most are told")
    return ", ".join(f"{after[kind] - before[kind]} {kind}" for kind in BOUNDS)


def stopped(stage, title, after, *where):
    code, said = stage.run(*where, "--yes", stop_in=title, after=after)
    stage.expect(code == 130, f"stopped in “{title}” after {after:.2f} s it ends with {code}: {said[-600:]}")
    text = stage.report_is_clean(said)
    stage.expect("| stopped |" in text and "| Clean-up | ok |" in text, f"no stop in “{title}” is in the report")
    stage.nothing_is_left()


def unasked(stage):
    before = sum(stage.requests().values())
    code, said = stage.run("--create-bucket")
    stage.expect(code == 1 and "nothing was sent" in said, f"without an answer it ends with {code}: {said[-300:]}")
    stage.expect(sum(stage.requests().values()) == before, "without an answer something is sent")
    stage.nothing_is_left()


def run(script, every_step):
    binary = program_for("try-amazon", OF_TESTS)
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="try-amazon.") as folder:
        stage = Stage(script, binary, folder)
        try:
            print(f"all steps: {whole(stage)}", flush=True)
            unasked(stage)
            if every_step:
                dice = random.Random(1)
                for title in STEPS.values():
                    if title == STEPS["large"]:
                        continue
                    for where in (("--create-bucket",), ("--bucket", "family-photos")):
                        after = dice.random()
                        print(f"stopped in “{title}” after {after:.2f} s, {where[0]}", flush=True)
                        stopped(stage, title, after, *where)
            else:
                stopped(stage, STEPS["share"], 0.3, "--bucket", "family-photos")
        finally:
            stage.server.stop()
    print(f"{len(stage.wrong)} wrong, {time.monotonic() - began:.0f} s")
    return 1 if stage.wrong else 0
