#!/usr/bin/env python3
"""A bucket that any S3 client can use: the store to measure against, with listings and uploads in parts.

    Benchmarks/Agent/bucket.py LOG HOLD     prints its port, and ends with its standard input
"""

import base64
import hashlib
import re
import subprocess
import sys
import threading
import time
from bisect import bisect_left
from collections import Counter
from email.utils import formatdate
from http.server import ThreadingHTTPServer
from urllib.parse import parse_qs, unquote, urlsplit
from xml.sax.saxutils import escape

from store import BUCKET, Store, StoreProcess, StoreRequest

# What comes in one piece is known by its ETag, and only the small notes of machines are read again. Of what came in parts the
# agent reads the bytes, to know it.
KEPT_BYTES = 64 << 10


class BucketRequest(StoreRequest):
    """Objects: {key: (size, headers, body or none)}."""

    def parsed(self):
        """The key, and the query."""
        url = urlsplit(self.path)
        query = {word: values[0] for word, values in parse_qs(url.query, keep_blank_values=True).items()}
        return unquote(url.path).removeprefix(f"/{BUCKET}").lstrip("/"), query

    def fail(self, status, code):
        self.reply(status, {"Content-Type": "application/xml"},
                   b"" if self.command == "HEAD" else f"<Error><Code>{code}</Code></Error>".encode())

    def pieces(self):
        """The body, without the frames of aws-chunked (S3: sigv4-streaming-trailers)."""
        if "aws-chunked" not in self.headers.get("Content-Encoding", ""):
            missing = int(self.headers.get("Content-Length", 0))
            while missing and (piece := self.rfile.read1(min(missing, 1 << 20))):
                missing -= len(piece)
                yield piece
            return
        while size := int(self.rfile.readline().split(b";")[0], 16):
            yield self.rfile.read(size)
            self.rfile.readline()
        while self.rfile.readline().strip():
            pass

    def received(self, limit=KEPT_BYTES):
        """Bytes, MD5, and the body unless it is larger than the limit."""
        digest, size, kept = hashlib.md5(usedforsecurity=False), 0, []
        for piece in self.pieces():
            digest.update(piece)
            size += len(piece)
            if size <= limit:
                kept.append(piece)
        return size, digest, b"".join(kept) if size <= limit else None

    def do_PUT(self):
        store, (name, query) = self.server.store, self.parsed()
        size, digest, body = self.received(limit=5 << 30 if "partNumber" in query else KEPT_BYTES)
        wanted = base64.b64decode(self.headers.get("Content-MD5", ""))
        if wanted and wanted != digest.digest():
            return self.fail(400, "BadDigest")
        tag = f'"{digest.hexdigest()}"'
        if "partNumber" in query:
            with store.lock:
                store.uploads[query["uploadId"]][int(query["partNumber"])] = (body, digest.digest())
        elif name:
            headers = {word: value for word, value in self.headers.items() if word.lower().startswith("x-amz-meta-")}
            headers |= {"ETag": tag, "Last-Modified": formatdate(usegmt=True),
                        "Content-Type": self.headers.get("Content-Type", "binary/octet-stream")}
            with store.lock:
                if self.headers.get("If-None-Match") == "*" and name in store.objects:
                    return self.fail(412, "PreconditionFailed")
                store.objects[name] = (size, headers, body)
        self.reply(200, {"ETag": tag}, count=size)

    def do_POST(self):
        store, (name, query) = self.server.store, self.parsed()
        self.received()
        if "uploads" in query:
            with store.lock:
                upload = str(len(store.uploads))
                store.uploads[upload] = {}
                store.metadata[upload] = {
                    word: value for word, value in self.headers.items() if word.lower().startswith("x-amz-meta-")}
            text = (f"<InitiateMultipartUploadResult><Bucket>{BUCKET}</Bucket><Key>{escape(name)}</Key>"
                    f"<UploadId>{upload}</UploadId></InitiateMultipartUploadResult>")
        elif "uploadId" in query:
            parts = [part for _, part in sorted(store.uploads[query["uploadId"]].items())]
            digest = hashlib.md5(b"".join(part[1] for part in parts), usedforsecurity=False).hexdigest()
            headers = store.metadata[query["uploadId"]] | {
                "ETag": f'"{digest}-{len(parts)}"', "Last-Modified": formatdate(usegmt=True), "Content-Type": "video/mp4"}
            with store.lock:
                body = b"".join(part[0] for part in parts)
                store.objects[name] = (len(body), headers, body)
                store.uploads[query["uploadId"]] = {}
            text = (f"<CompleteMultipartUploadResult><Bucket>{BUCKET}</Bucket><Key>{escape(name)}</Key>"
                    f"<ETag>{escape(headers['ETag'])}</ETag></CompleteMultipartUploadResult>")
        else:
            return self.fail(501, "NotImplemented")
        self.reply(200, {"Content-Type": "application/xml"}, text.encode())

    def do_HEAD(self):
        name, _ = self.parsed()
        if name and name not in self.server.store.objects:
            return self.fail(404, "NoSuchKey")
        size, headers, _ = self.server.store.objects[name] if name else (0, {}, None)
        self.reply(200, {**headers, "Content-Length": str(size)})

    def do_GET(self):
        name, query = self.parsed()
        if not name:
            if not query.keys() & {"list-type", "prefix"}:
                return self.fail(404, "NoSuchConfiguration")
            return self.reply(200, {"Content-Type": "application/xml"}, self.page(query))
        size, headers, body = self.server.store.objects.get(name, (0, {}, None))
        if body is None:
            return self.fail(404, "NoSuchKey")
        status = 200
        if wanted := re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", "")):
            first, last = int(wanted[1]), min(int(wanted[2] or size - 1), size - 1)
            status, body = 206, memoryview(body)[first:last + 1]
            headers = headers | {"Content-Range": f"bytes {first}-{last}/{size}"}
        self.reply(status, headers, body)

    def page(self, query):
        """ListObjectsV2, with a delimiter or without."""
        prefix, delimiter, limit = query.get("prefix", ""), query.get("delimiter"), int(query.get("max-keys", 1000))
        with self.server.store.lock:
            keys = sorted(key for key in self.server.store.objects if key.startswith(prefix))
        after = query.get("continuation-token") or query.get("start-after", "")
        first, contents, folders = bisect_left(keys, after), [], []
        if after and first < len(keys) and keys[first] == after:
            first += 1
        more = False
        for index in range(first, len(keys)):
            key = keys[index]
            rest = key[len(prefix):]
            folder = delimiter and delimiter in rest and prefix + rest.split(delimiter)[0] + delimiter
            if folder in folders:
                after = key
                continue
            if len(contents) + len(folders) == limit:
                more = True
                break
            after = key
            if folder:
                folders.append(folder)
                continue
            size, headers, _ = self.server.store.objects[key]
            contents.append(
                f"<Contents><Key>{escape(key)}</Key><LastModified>"
                f"{time.strftime('%Y-%m-%dT%H:%M:%S.000Z', time.gmtime())}</LastModified><ETag>{escape(headers['ETag'])}"
                f"</ETag><Size>{size}</Size><StorageClass>STANDARD</StorageClass></Contents>")
        token = f"<NextContinuationToken>{escape(after)}</NextContinuationToken>" if more else ""
        return (f"<ListBucketResult><Name>{BUCKET}</Name><Prefix>{escape(prefix)}</Prefix><KeyCount>"
                f"{len(contents) + len(folders)}</KeyCount><IsTruncated>{str(more).lower()}</IsTruncated>{token}"
                + "".join(contents) + "".join(f"<CommonPrefixes><Prefix>{escape(name)}</Prefix></CommonPrefixes>"
                                              for name in folders) + "</ListBucketResult>").encode()

    def do_DELETE(self):
        with self.server.store.lock:
            self.server.store.objects.pop(self.parsed()[0], None)
        self.reply(204)


def serve(log, hold):
    """The process of the bucket: prints its port, and ends with its standard input."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), BucketRequest)
    server.store, server.daemon_threads = Store(log, float(hold)), True
    server.store.uploads, server.store.metadata = {}, {}
    server.handle_error = lambda *_: None
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(server.server_address[1], flush=True)
    sys.stdin.read()


class BucketProcess(StoreProcess):
    key_id = secret = "bench"

    def __init__(self, folder):
        self.log, self.seen = folder / "requests", 0
        self.process = subprocess.Popen([sys.executable, __file__, self.log, "0"], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)
        self.port = int(self.process.stdout.readline())

    def new_requests(self):
        """How many of each kind since the last call, the bytes that were sent, and the paths of what was put."""
        rows = list(self.requests())
        new, self.seen = rows[self.seen:], len(rows)
        return (Counter(kind_of(row[0], row[5]) for row in new), sum(row[4] for row in new),
                [row[5] for row in new if row[0] == "PUT"])


def kind_of(method, path):
    query = parse_qs(urlsplit(path).query, keep_blank_values=True)
    return "LIST" if method == "GET" and query.keys() & {"list-type", "prefix"} else method


if __name__ == "__main__":
    serve(*sys.argv[1:])
