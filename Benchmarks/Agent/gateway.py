"""A bucket of the Ceph RADOS Gateway that scripts/interop makes, in the place of BucketProcess."""

import os
import re
import subprocess
import time
from collections import Counter
from itertools import count

from bucket import kind_of
from measuring import BenchFailed
from servers import Bucket, Server
from store import BUCKET

# What the gateway writes of each request when it is over: … "PUT /bench/key HTTP/1.1" 200 BYTES …
REQUEST = re.compile(r'beast: .*?\] "(\w+) (\S+) HTTP/[\d.]+" (\d+) (\d+)')
SECONDS_UNTIL_TOLD = 60


class CephBucket:
    """An empty bucket, until it is closed. The cluster is started when none runs, and goes on."""

    def __init__(self):
        self.server = Server.ceph()
        self.port, self.key_id, self.secret = self.server.port, self.server.key_id, self.server.secret
        self.folder, self.marks, self.read = self.server.folder, count(1), 0
        self.log = self.folder / "client.rgw.log"
        self.purge()
        Bucket(self.server, BUCKET).make()
        self.new_requests()

    def purge(self):
        """What is deleted by requests lies in the daemon's memory for two hours more."""
        done = subprocess.run(["radosgw-admin", "bucket", "rm", f"--bucket={BUCKET}", "--purge-objects", "--bypass-gc"],
                              env=os.environ | {"CEPH_CONF": str(self.folder / "ceph.conf")}, capture_output=True,
                              text=True, timeout=600)
        if done.returncode not in (0, 2):  # 2 (ENOENT): there is none.
            raise BenchFailed(f"radosgw-admin bucket rm: {done.returncode}\n{done.stderr[-2000:]}")

    def new_requests(self):
        """As BucketProcess has it; the bytes are those of requests and answers together."""
        rows = self.told()
        return (Counter(kind_of(method, path) for method, path, _ in rows), sum(size for *_, size in rows),
                [path for method, path, _ in rows if method == "PUT"])

    def told(self):
        """The log is written by a thread of the gateway's: all is in it when a request of ours is."""
        mark = f"/{BUCKET}/mark-{next(self.marks)}-{time.monotonic_ns()}"
        self.server.ask("HEAD", mark, accept=(404,))
        end, text = time.monotonic() + SECONDS_UNTIL_TOLD, ""
        with open(self.log, encoding="utf-8", errors="replace") as log:
            log.seek(self.read)
            while f" {mark} " not in text or not text.endswith("\n"):
                if time.monotonic() > end:
                    raise BenchFailed(f"{self.log} does not tell of a request: is `debug rgw` below 1?")
                text += log.read()
                time.sleep(0.05)
            self.read = log.tell()
        found = [(one[1], one[2], int(one[4])) for one in map(REQUEST.search, text.splitlines()) if one]
        return [row for row in found if row[1] != mark]

    def close(self):
        self.purge()
