#!/usr/bin/env python3
"""An archive to measure against: a ledger of archived photos, and an S3 server that has their objects.

    Benchmarks/Agent/archive.py LOG COUNT     prints its port, does what its standard input says, and ends with it
"""

import hashlib
import re
import sqlite3
import subprocess
import sys
import threading
import time
from bisect import bisect_left, insort
from collections import Counter
from contextlib import closing
from email.utils import formatdate
from http.server import ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, quote, unquote, urlsplit

from store import BUCKET, Store, StoreProcess, StoreRequest

# Of every object. The album is that of the first photos.
SIZE = 400_000
ALBUM = 5_000
EXPIRY = "2030-01-01T00:00:00.000Z"
DAY = 86_400_000


def key(number):
    return f"users/ana/photos/{hashlib.md5(b'%d' % number, usedforsecurity=False).hexdigest()}.dat"


def content(number):
    return (b"photo %d\n" % number).ljust(SIZE, b".")


class Archive(Store):
    """Objects in DEEP_ARCHIVE, and what is put beside them. What was asked for stays in progress until the test says that
    some of it is ready."""

    def __init__(self, log, count):
        super().__init__(log, 0)
        self.number = {key(number): number for number in range(1, count + 1)}
        self.keys = sorted(self.number)
        # In the order of the requests; True once it can be read.
        self.restores = {}
        # {key: (bytes, headers)}: catalogues, and what else machines tell.
        self.notes = {}

    def finish(self, count):
        with self.lock:
            for name in [name for name, ready in self.restores.items() if not ready][:count]:
                self.restores[name] = True

    def restore(self, name):
        """The status of the reply."""
        with self.lock:
            status = {None: 202, False: 409, True: 200}[self.restores.get(name)]
            self.restores.setdefault(name, False)
            return status

    def forget(self):
        with self.lock:
            self.restores = {}

    def keep(self, name, body, headers, if_absent):
        """The status of the reply."""
        with self.lock:
            if if_absent and (name in self.notes or name in self.number):
                return 412
            if name not in self.notes:
                insort(self.keys, name)
            self.notes[name] = (body, headers)
            return 200

    def drop(self, name):
        with self.lock:
            if self.notes.pop(name, None):
                del self.keys[bisect_left(self.keys, name)]

    def page(self, prefix, token, limit, telling):
        """ListObjectsV2, with RestoreStatus where it is asked for."""
        first = int(token) if token else bisect_left(self.keys, prefix)
        keys = self.keys[first:first + limit]
        end = len(keys)
        while end and not keys[end - 1].startswith(prefix):
            end -= 1
        more = end == limit and first + limit < len(self.keys)
        parts = [f"<ListBucketResult><Name>{BUCKET}</Name><KeyCount>{end}</KeyCount><EncodingType>url</EncodingType>"
                 f"<IsTruncated>{'true' if more else 'false'}</IsTruncated>"]
        if more:
            parts.append(f"<NextContinuationToken>{first + limit}</NextContinuationToken>")
        for name in keys[:end]:
            ready = self.restores.get(name) if telling else None
            status = "" if ready is None else (
                "<RestoreStatus><IsRestoreInProgress>false</IsRestoreInProgress>"
                f"<RestoreExpiryDate>{EXPIRY}</RestoreExpiryDate></RestoreStatus>" if ready else
                "<RestoreStatus><IsRestoreInProgress>true</IsRestoreInProgress></RestoreStatus>")
            size, tag, kind = SIZE, f"{'0' * 32}-1", "DEEP_ARCHIVE"
            if name in self.notes:
                body, headers = self.notes[name]
                size, tag, kind = len(body), headers["ETag"].strip('"'), "STANDARD"
            parts.append(f"<Contents><Key>{quote(name)}</Key><LastModified>2026-01-01T00:00:00.000Z</LastModified>"
                         f"<ETag>&quot;{tag}&quot;</ETag><Size>{size}</Size>"
                         f"<StorageClass>{kind}</StorageClass>{status}</Contents>")
        parts.append("</ListBucketResult>")
        return "".join(parts).encode()


class ArchiveRequest(StoreRequest):
    def parsed(self):
        """The key, and the query."""
        url = urlsplit(self.path)
        return unquote(url.path).removeprefix(f"/{BUCKET}").lstrip("/"), parse_qs(url.query, keep_blank_values=True)

    def fail(self, status, code):
        self.reply(status, {"Content-Type": "application/xml"},
                   b"" if self.command == "HEAD" else f"<Error><Code>{code}</Code></Error>".encode())

    def do_GET(self):
        store, (name, query) = self.server.store, self.parsed()
        if name:
            self.send_object(name, content)
        elif "list-type" in query:
            value = {word: values[0] for word, values in query.items()}
            telling = self.headers.get("x-amz-optional-object-attributes") == "RestoreStatus"
            self.reply(200, {"Content-Type": "application/xml"}, store.page(
                value.get("prefix", ""), value.get("continuation-token"), int(value.get("max-keys", 1000)), telling))
        else:
            self.fail(404, "NoSuchConfiguration")

    def do_PUT(self):
        name, _ = self.parsed()
        body = self.rfile.read(int(self.headers["Content-Length"]))
        headers = {word: value for word, value in self.headers.items() if word.lower().startswith("x-amz-meta-")}
        headers |= {"ETag": f'"{hashlib.md5(body, usedforsecurity=False).hexdigest()}"',
                    "Last-Modified": formatdate(usegmt=True), "Content-Type": self.headers["Content-Type"]}
        if self.server.store.keep(name, body, headers, self.headers.get("If-None-Match") == "*") == 412:
            return self.fail(412, "PreconditionFailed")
        self.reply(200, {"ETag": headers["ETag"]}, count=len(body))

    def do_DELETE(self):
        self.server.store.drop(self.parsed()[0])
        self.reply(204)

    def do_HEAD(self):
        name, _ = self.parsed()
        if name:
            self.send_object(name, None)
        else:
            self.reply(200)

    def send_object(self, name, body):
        store = self.server.store
        if name in store.notes:
            return self.send_note(*store.notes[name], is_wanted=body is not None)
        if name not in store.number:
            return self.fail(404, "NoSuchKey")
        ready = store.restores.get(name)
        if body and not ready:
            return self.fail(403, "InvalidObjectState")
        headers = {"x-amz-storage-class": "DEEP_ARCHIVE", "ETag": f'"{"0" * 32}-1"', "Content-Length": str(SIZE),
                   "Last-Modified": "Thu, 01 Jan 2026 00:00:00 GMT", "Content-Type": "image/jpeg"}
        if ready is not None:
            headers["x-amz-restore"] = (
                'ongoing-request="false", expiry-date="Tue, 01 Jan 2030 00:00:00 GMT"' if ready
                else 'ongoing-request="true"')
        self.reply(200, headers, body(store.number[name]) if body else b"")

    def send_note(self, text, headers, is_wanted):
        status, part = 200, text
        if wanted := re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range", "")):
            first, last = int(wanted[1]), min(int(wanted[2]), len(text) - 1)
            if first > last:
                return self.fail(416, "InvalidRange")
            status, part = 206, text[first:last + 1]
            headers = headers | {"Content-Range": f"bytes {first}-{last}/{len(text)}"}
        self.reply(status, headers | {"Content-Length": str(len(part))}, part if is_wanted else b"")

    def do_POST(self):
        name, query = self.parsed()
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if "restore" not in query or not re.search(rb"<Days>\d+</Days>", body):
            return self.fail(400, "InvalidRequest")
        if name not in self.server.store.number:
            return self.fail(404, "NoSuchKey")
        status = self.server.store.restore(name)
        if status == 409:
            return self.fail(409, "RestoreAlreadyInProgress")
        self.reply(status)


def serve(log, count):
    """`ready N`: so many more restores are done; `forget`: none was ever asked for."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), ArchiveRequest)
    server.store, server.daemon_threads = Archive(log, int(count)), True
    server.handle_error = lambda *_: None
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(server.server_address[1], flush=True)
    for line in sys.stdin:
        match line.split():
            case ["ready", number]: server.store.finish(int(number))
            case ["forget"]: server.store.forget()
        print("done", flush=True)


class ArchiveProcess(StoreProcess):
    def __init__(self, folder, count):
        self.log = folder / "requests"
        self.process = subprocess.Popen([sys.executable, __file__, self.log, str(count)], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)
        self.port = int(self.process.stdout.readline())
        self.seen = 0

    def tell(self, words):
        print(words, file=self.process.stdin, flush=True)
        self.process.stdout.readline()

    def new_requests(self):
        """How many of each kind since the last call."""
        rows = list(self.requests())
        new, self.seen = rows[self.seen:], len(rows)
        return Counter(kind_of(method, path) for method, _, _, _, _, path in new)


def kind_of(method, path):
    url = urlsplit(path)
    query = parse_qs(url.query, keep_blank_values=True)
    if "restore" in query:
        return "restore"
    if "list-type" not in query:
        return method
    if query.get("max-keys") != ["1"]:
        return "LIST"
    # Without a key, it only tells whether the store is there.
    return "LIST of one key" if "prefix" in query else "look at the store"


def fill_archive(agent, count, storage_class="DEEP_ARCHIVE", hashed=ALBUM):
    """So many stored photos of half a year ago, in a folder of 5,000 and folders of 100; deleted here since."""
    stored = int(time.time() * 1000) - 200 * DAY

    def objects():
        for number in range(1, count + 1):
            md5 = hashlib.md5(b"%d" % number, usedforsecurity=False).digest()
            sha256 = hashlib.sha256(content(number)).digest() if number <= hashed else md5 + md5
            yield (number, key(number), SIZE, md5, sha256, storage_class, stored - 3 * DAY, stored)

    def photos(folder):
        for number in range(1, count + 1):
            directory = 1 if number <= ALBUM else 2 + (number - ALBUM - 1) // 100
            yield (number, folder, directory, b"IMG_%06d.jpg" % number, number,
                   hashlib.md5(b"%d" % number, usedforsecurity=False).digest(), number, stored, stored)

    with closing(sqlite3.connect(agent.ledger)) as ledger, ledger:
        folder = ledger.execute("SELECT id FROM folders WHERE kind = 'gallery'").fetchone()[0]
        paths = [b"/album"] + [b"/other%05d" % number for number in range((count - ALBUM) // 100)]
        ledger.executemany("INSERT INTO directories (id, folder_id, path) VALUES (?, ?, ?)",
                           ((index + 1, folder, path) for index, path in enumerate(paths)))
        ledger.executemany(
            "INSERT INTO objects (id, key, size, md5, sha256, content_type, storage_class, restore_state, width,"
            " height, taken_at, stored_at) VALUES (?, ?, ?, ?, ?, 'image/jpeg', ?, 'none', 2048, 1536, ?, ?)",
            objects())
        ledger.executemany(
            "INSERT INTO photos (id, folder_id, directory_id, name, device, inode, size, modified, state, md5,"
            " object_id, object_generation, uploaded_at, queued_at)"
            " VALUES (?, ?, ?, ?, 1, ?, 4000000, 1, 'missing', ?, ?, 1, ?, ?)", photos(folder))


def downgrade(agent):
    """Takes the ledger back to before the index of what a listing tells: the migration that has most to do."""
    with closing(sqlite3.connect(agent.ledger)) as ledger, ledger:
        ledger.execute("DROP INDEX objects_listed")
        ledger.execute("DELETE FROM grdb_migrations WHERE identifier = 'objects as they are listed'")


def pass_time(agent, seconds):
    """Moves all that restores know of time into the past, as if so much time had passed."""
    with closing(sqlite3.connect(agent.ledger, timeout=10)) as ledger, ledger:
        past = round(seconds * 1000)
        ledger.execute("UPDATE restore_jobs SET requested_at = requested_at - ?1, looked_at = looked_at - ?1", [past])
        ledger.execute("UPDATE restore_items SET requested_at = requested_at - ?1, ready_at = ready_at - ?1", [past])


if __name__ == "__main__":
    serve(Path(sys.argv[1]), sys.argv[2])
