"""An S3 server for the trials, and a look at what it holds that goes past the program and past every proxy."""

import hashlib
import hmac
import os
import shutil
import socket
import subprocess
import xml.etree.ElementTree as ElementTree
from datetime import datetime, timezone
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from urllib.parse import parse_qsl, quote, urlsplit

from homes import OF_MACHINES, wait_until

ROOT = Path(__file__).resolve().parent.parent.parent
NAMESPACE = "{http://s3.amazonaws.com/doc/2006-03-01/}"


class ServerError(Exception):
    """The server itself, and not the program, answers otherwise than it should."""


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Server:
    """Where it listens and who may ask. Two kinds: moto, started here; Ceph, started by scripts/interop."""

    def __init__(self, port, key_id="AKIATESTTESTTEST0001", secret="no-secret-at-all", process=None, folder=None):
        self.port, self.key_id, self.secret, self.process, self.folder = port, key_id, secret, process, folder
        # Of an ETag the SHA-256 of the bytes, where they could be read once: archived ones cannot.
        self.digests = {}

    @classmethod
    def moto(cls, folder):
        """moto keeps all in memory, and checks neither signatures nor digests."""
        program = ROOT / ".build-servers/moto/venv/bin/moto_server"
        if not program.exists():
            subprocess.run([ROOT / "scripts/test-servers", "run", "true"], check=True, stdout=subprocess.DEVNULL)
        for _ in range(3):
            port = free_port()
            with open(Path(folder) / "moto.log", "wb") as log:
                process = subprocess.Popen([program, "-H", "127.0.0.1", "-p", str(port)], stdout=log, stderr=log,
                                           stdin=subprocess.DEVNULL, cwd=folder, start_new_session=True)
            server = cls(port, process=process)
            if wait_until(lambda: process.poll() is not None or server.answers(), 120) and process.poll() is None:
                return server
            server.stop()
        raise ServerError("moto does not start")

    @classmethod
    def ceph(cls):
        """As `scripts/interop start` tells of it."""
        told = subprocess.run([ROOT / "scripts/interop", "start"], check=True, capture_output=True, text=True).stdout
        found = dict(line.removeprefix("export ").split("=", 1) for line in told.splitlines() if "=" in line)
        return cls(urlsplit(found["SYNC_AGENT_TEST_CEPH_ENDPOINT"]).port, found["SYNC_AGENT_TEST_KEY_ID"],
                   found["SYNC_AGENT_TEST_SECRET"], folder=Path(found["SYNC_AGENT_TEST_CEPH_FOLDER"]))

    def stop(self):
        if self.process and self.process.poll() is None:
            self.process.kill()
            self.process.wait()

    def answers(self):
        try:
            self.ask("GET", "/")
        except (OSError, HTTPException):
            return False
        return True

    def ask(self, method, target, body=b"", headers=None, accept=(200, 204)):
        """A signed request: (answer, body). moto fails now and then when two change a bucket at once."""
        for _ in range(5):
            answer, data = self.once(method, target, body, headers or {})
            if answer.status < 500:
                break
        if answer.status not in accept:
            raise ServerError(f"{method} {target}: {answer.status} {data[:300]!r}")
        return answer, data

    def once(self, method, target, body, headers):
        connection = HTTPConnection("127.0.0.1", self.port, timeout=120)
        try:
            connection.request(method, target, body or None, self.signed(method, target, headers))
            answer = connection.getresponse()
            data = answer.read()
        finally:
            connection.close()
        return answer, data

    def signed(self, method, target, headers):
        """Signature version 4, the body left out of it."""
        path, _, query = target.partition("?")
        now = datetime.now(timezone.utc).strftime("%Y%m%dT%H%M%SZ")
        all_headers = {"host": f"127.0.0.1:{self.port}", "x-amz-content-sha256": "UNSIGNED-PAYLOAD", "x-amz-date": now,
                       **{name.lower(): value for name, value in headers.items()}}
        names = ";".join(sorted(all_headers))
        items = sorted((quote(name, safe="-_.~"), quote(value, safe="-_.~"))
                       for name, value in parse_qsl(query, keep_blank_values=True))
        lines = [method, path, "&".join(f"{name}={value}" for name, value in items),
                 *(f"{name}:{all_headers[name]}" for name in sorted(all_headers)), "", names, "UNSIGNED-PAYLOAD"]
        scope = f"{now[:8]}/us-east-1/s3/aws4_request"
        text = f"AWS4-HMAC-SHA256\n{now}\n{scope}\n{hashlib.sha256(chr(10).join(lines).encode()).hexdigest()}"
        key = f"AWS4{self.secret}".encode()
        for part in scope.split("/"):
            key = hmac.digest(key, part.encode(), "sha256")
        signature = hmac.digest(key, text.encode(), "sha256").hex()
        all_headers["authorization"] = (f"AWS4-HMAC-SHA256 Credential={self.key_id}/{scope}, SignedHeaders={names}, "
                                        f"Signature={signature}")
        return all_headers


class Bucket:
    """What is in a bucket, and its bytes."""

    def __init__(self, server, name):
        self.server, self.name = server, name

    def make(self):
        self.server.ask("PUT", f"/{self.name}")

    def path(self, key):
        return f"/{self.name}/{quote(key, safe='/-_.~')}"

    def listing(self):
        """{key: (ETag, size, class)}."""
        found, token = {}, None
        while True:
            target = f"/{self.name}?list-type=2" + (f"&continuation-token={quote(token, safe='')}" if token else "")
            tree = ElementTree.fromstring(self.server.ask("GET", target)[1])
            for entry in tree.iter(f"{NAMESPACE}Contents"):
                found[entry.findtext(f"{NAMESPACE}Key")] = (
                    entry.findtext(f"{NAMESPACE}ETag").strip('"'), int(entry.findtext(f"{NAMESPACE}Size")),
                    entry.findtext(f"{NAMESPACE}StorageClass"))
            token = tree.findtext(f"{NAMESPACE}NextContinuationToken")
            if not token:
                return found

    def uploads(self):
        """The keys of uploads in parts that nobody has ended."""
        tree = ElementTree.fromstring(self.server.ask("GET", f"/{self.name}?uploads=")[1])
        return [entry.findtext(f"{NAMESPACE}Key") for entry in tree.iter(f"{NAMESPACE}Upload")]

    def get(self, key):
        return self.server.ask("GET", self.path(key))[1]

    def put(self, key, data, headers=None):
        self.server.ask("PUT", self.path(key), data, headers)

    def delete(self, key):
        self.server.ask("DELETE", self.path(key))

    def digest(self, key, etag):
        """SHA-256; of what cannot be read and never could, the ETag."""
        if etag not in self.server.digests:
            answer, data = self.server.ask("GET", self.path(key), accept=(200, 403, 404))
            if answer.status == 403:
                return f"unread:{etag}"
            if answer.status == 404:
                return None
            self.server.digests[etag] = hashlib.sha256(data).hexdigest()
        return self.server.digests[etag]

    def objects(self):
        """{key: SHA-256}; catalogues, which are another one after each pass, are left out."""
        found = {key: self.digest(key, etag) for key, (etag, _, _) in self.listing().items() if not OF_MACHINES.search(key)}
        return {key: digest for key, digest in found.items() if digest}

    def picture(self, folder):
        """The readable objects as files below a folder, as the embedded store keeps them."""
        folder = Path(folder)
        shutil.rmtree(folder, ignore_errors=True)
        for key in self.listing():
            answer, data = self.server.ask("GET", self.path(key), accept=(200, 403, 404))
            path = folder / key
            path.parent.mkdir(parents=True, exist_ok=True)
            if answer.status == 200:
                path.write_bytes(data)

    def empty(self):
        for key in self.listing():
            self.delete(key)


def environment_of(server):
    """For programs that find their credentials as Amazon's do."""
    return {"AWS_ACCESS_KEY_ID": server.key_id, "AWS_SECRET_ACCESS_KEY": server.secret, "AWS_REGION": "us-east-1",
            "AWS_EC2_METADATA_DISABLED": "true", "PATH": os.environ["PATH"]}
