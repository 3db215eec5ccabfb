"""The program under measurement."""

import os
import shlex
import signal
import sqlite3
import subprocess
import time
from contextlib import closing
from pathlib import Path

from measuring import BenchFailed
from store import BUCKET

ROOT = Path(__file__).resolve().parent.parent.parent
BINARY = Path(os.environ.get("SYNC_AGENT_BINARY", ROOT / ".build/release/sync-agent")).absolute()
KINDS = {"Gallery": "gallery", "Vacations": "vacations", "Projects": "projects"}
BATCH = 3
DEADLINE = 900


class Agent:
    """The program with a configuration, folders and state of its own."""

    def __init__(self, folder, endpoint=None, settle=2):
        self.folder, self.pictures, self.process = folder, folder / "Pictures", None
        for name in KINDS:
            (self.pictures / name).mkdir(parents=True)
        store = (f"{{type: s3, bucket: {BUCKET}, region: us-east-1, endpoint: 'http://127.0.0.1:{endpoint}'}}"
                 if endpoint else f"{{type: directory, path: {folder}/store}}")
        watch = "".join(f"  - {{kind: {kind}, path: {self.pictures}/{name}}}\n" for name, kind in KINDS.items())
        (folder / "config.yaml").write_text(
            f"user: ana\nstore: {store}\nwatch:\n{watch}upload: {{batch_size: {BATCH}, settle_seconds: {settle}}}\n")
        self.ledger = folder / "state/sync-agent/ledger.sqlite"
        self.environment = {
            "PATH": os.environ["PATH"], "HOME": str(folder), "XDG_STATE_HOME": str(folder / "state"), "TZ": "UTC",
            "SYNC_AGENT_CONFIG": str(folder / "config.yaml"), "AWS_ACCESS_KEY_ID": "bench",
            "AWS_SECRET_ACCESS_KEY": "bench"}

    def command(self, *arguments):
        return [str(BINARY), *map(str, arguments)]

    def run(self, *arguments, accept=(0,)):
        done = subprocess.run(self.command(*arguments), env=self.environment, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=DEADLINE)
        if done.returncode not in accept:
            raise BenchFailed(f"sync-agent {shlex.join(map(str, arguments))}: {done.returncode}\n{done.stderr[-2000:]}")
        return done.stdout

    def spawn(self, *arguments):
        """Begins a command of which nobody reads the output."""
        with open(self.folder / "log", "ab") as log:
            self.process = subprocess.Popen(self.command(*arguments), env=self.environment, stdin=subprocess.DEVNULL,
                                            stdout=log, stderr=log)
        return self.process

    def start(self):
        """Returns once every change is seen."""
        log = self.folder / "log"
        log.touch()
        before = log.stat().st_size
        self.spawn("run")
        self.wait("the agent to watch", lambda: b"watching 3 folders" in log.read_bytes()[before:])
        time.sleep(1)

    def wait(self, what, condition, every=0.05, within=DEADLINE):
        end = time.monotonic() + within
        while not condition():
            if self.process and self.process.poll() is not None:
                log = (self.folder / "log").read_text(errors="replace")
                raise BenchFailed(f"the agent ended: {self.process.returncode}\n{log[-2000:]}")
            if time.monotonic() > end:
                raise BenchFailed(f"waited {within:.0f} s for {what}")
            time.sleep(every)

    def count(self, state):
        """Photos in a state, by the ledger's own tally."""
        with closing(sqlite3.connect(f"file:{self.ledger}?mode=ro", uri=True, timeout=10)) as ledger:
            query = "SELECT COALESCE(SUM(files), 0) FROM photo_tallies WHERE state = ?"
            return ledger.execute(query, [state]).fetchone()[0]

    def stop(self):
        if self.process and self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            self.process.wait(timeout=90)
