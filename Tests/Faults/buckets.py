"""The same home with a bucket in place of the embedded store: on moto, in this process, which may look into it."""

import hashlib
import logging
import os
import pickle
import subprocess
import sys
import threading
from itertools import count
from pathlib import Path

from homes import OF_MACHINES, Home

ROOT = Path(__file__).resolve().parent.parent.parent
PYTHON = ROOT / ".build-servers/moto/venv/bin/python3"
ACCOUNT = "123456789012"


def require_moto():
    """Goes on as the Python that has moto, which is installed when it is missing."""
    if Path(sys.prefix) != PYTHON.parent.parent:
        if not (PYTHON.parent.parent / "complete").exists():
            subprocess.run([ROOT / "scripts/test-servers", "run", "true"], check=True)
        os.execv(PYTHON, [str(PYTHON), *sys.argv])


class Server:
    """A moto on a free port of the loopback interface, and its buckets."""

    def __init__(self):
        # It takes a while to load, and only the trials with a bucket need it.
        from moto.s3.models import s3_backends
        from moto.server import ThreadedMotoServer
        logging.getLogger("werkzeug").setLevel(logging.ERROR)
        self.backend = s3_backends[ACCOUNT]["aws"]
        server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
        server.start()
        host, port = server.get_host_and_port()
        self.endpoint = f"http://{host}:{port}"
        self.numbers = count(1)

    def make_bucket(self):
        name = f"trial-{next(self.numbers)}"
        self.backend.create_bucket(name, "us-east-1")
        return name


class BucketHome(Home):
    mark = "@s3"
    server = None
    # Homes are prepared at the same time: two servers would have one backend, and give out each name twice.
    making = threading.Lock()

    def __init__(self, slot, binary, more=""):
        super().__init__(slot, binary, more)
        with BucketHome.making:
            BucketHome.server = BucketHome.server or Server()
        self.bucket = self.server.make_bucket()
        self.environment |= {"AWS_ACCESS_KEY_ID": "AKIATESTTESTTEST0001", "AWS_SECRET_ACCESS_KEY": "no-secret-at-all"}

    def store_settings(self):
        return f"{{type: s3, bucket: {self.bucket}, region: us-east-1, endpoint: '{self.server.endpoint}'}}"

    def keep(self):
        super().keep()
        self.kept = pickle.dumps(self.server.backend.buckets[self.bucket])

    def begin(self):
        super().begin()
        self.server.backend.buckets[self.bucket] = pickle.loads(self.kept)

    @property
    def keys(self):
        return self.server.backend.buckets[self.bucket].keys

    def contents(self):
        """{key: bytes}, without catalogues."""
        return {name: self.keys[name].value for name in list(self.keys) if not OF_MACHINES.search(name)}

    def objects(self):
        return {name: hashlib.sha256(data).hexdigest() for name, data in self.contents().items()}

    def has(self, keys):
        return set(keys) <= set(self.keys)

    def traces(self, key):
        return [key] if key in self.keys else []

    def shared(self):
        return {name: data for name, data in self.contents().items() if name.startswith("shares/")}

    def rot(self, key):
        data = bytearray(self.keys[key].value)
        data[len(data) // 2] ^= 255
        # The ETag stays that of the right bytes.
        etag = self.keys[key].etag
        self.keys[key].value = bytes(data)
        self.keys[key]._etag = etag.strip('"')

    def lose(self, key):
        self.keys.pop(key)

    def freeze(self):
        for name, key in list(self.keys.items()):
            if name.startswith("users/ana/photos/"):
                key._storage_class = "DEEP_ARCHIVE"
