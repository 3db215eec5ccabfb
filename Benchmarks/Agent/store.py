#!/usr/bin/env python3
"""An S3 server to measure against: on the loopback, in memory, checking no signature.

    Benchmarks/Agent/store.py LOG HOLD     prints its port, and ends with its standard input
"""

import base64
import hashlib
import http.server
import os
import socket
import subprocess
import sys
import threading
import time

BUCKET = "bench"


class Store:
    """Objects in memory, and a line of the log for each request: method, status, when it began and ended
    (nanoseconds of CLOCK_MONOTONIC), bytes of the body, key. Status 0: the client went away in the middle. A slow
    store waits up to `hold` seconds before it reads a body, and as long before it says that it has it: the key says how
    long."""

    def __init__(self, log, hold):
        self.log = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        self.hold = hold
        self.lock = threading.Lock()
        self.objects = {}

    def wait(self, key):
        time.sleep(self.hold * hashlib.md5(key.encode(), usedforsecurity=False).digest()[0] / 255)

    def put(self, key, size, headers, if_absent):
        """The status of the reply."""
        with self.lock:
            if if_absent and key in self.objects:
                return 412
            self.objects[key] = (size, headers)
            return 200

    def note(self, method, status, began, count, key):
        os.write(self.log, f"{method} {status} {began} {time.monotonic_ns()} {count} {key}\n".encode())


class StoreRequest(http.server.BaseHTTPRequestHandler):
    """As much of S3 as the agent asks for."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    rbufsize = 1 << 20

    def parse_request(self):
        self.began = time.monotonic_ns()
        return super().parse_request()

    def log_message(self, *_):
        pass

    def reply(self, status, headers=None, body=b"", count=0):
        try:
            self.send_response(status)
            for name, value in ({"Content-Length": str(len(body))} | (headers or {})).items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)
        finally:
            self.server.store.note(self.command, status, self.began, count, self.path)

    def do_PUT(self):
        store, size = self.server.store, int(self.headers["Content-Length"])
        digest, missing = hashlib.md5(usedforsecurity=False), size
        store.wait(self.path)
        while missing and (piece := self.rfile.read1(min(missing, 1 << 20))):
            digest.update(piece)
            missing -= len(piece)
        if missing:
            store.note("PUT", 0, self.began, size - missing, self.path)
            self.close_connection = True
            return
        headers = {name: value for name, value in self.headers.items() if name.lower().startswith("x-amz-meta-")}
        headers |= {"ETag": f'"{digest.hexdigest()}"', "Content-Type": self.headers["Content-Type"]}
        wanted = base64.b64decode(self.headers.get("Content-MD5", ""))
        if wanted and wanted != digest.digest():
            self.reply(400, body=b"<Error><Code>BadDigest</Code></Error>", count=size)
            return
        status = store.put(self.path, size, headers, self.headers.get("If-None-Match") == "*")
        store.wait(self.path)
        if status == 200:
            self.reply(200, {"ETag": headers["ETag"]}, count=size)
        else:
            self.reply(status, body=b"<Error><Code>PreconditionFailed</Code></Error>", count=size)

    def do_HEAD(self):
        size, headers = self.server.store.objects.get(self.path, (None, None))
        if headers is None:
            self.reply(404, {"Content-Length": "0"})
        else:
            self.reply(200, {**headers, "Content-Length": str(size)})

    def do_GET(self):
        # Only the look whether the store is there: a listing of one key.
        self.reply(200, {"Content-Type": "application/xml"}, (
            f"<ListBucketResult><Name>{BUCKET}</Name><KeyCount>0</KeyCount>"
            "<IsTruncated>false</IsTruncated></ListBucketResult>").encode())

    def do_DELETE(self):
        with self.server.store.lock:
            self.server.store.objects.pop(self.path, None)
        self.reply(204)


def serve(log, hold):
    """The process of the store: prints its port, and ends with its standard input."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), StoreRequest)
    if float(hold):
        # A body does not fit into the window: a client that dies before it was read leaves a part of it unsent.
        server.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8192)
    server.store, server.daemon_threads = Store(log, float(hold)), True
    # A client that was killed is no news.
    server.handle_error = lambda *_: None
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(server.server_address[1], flush=True)
    sys.stdin.read()


class StoreProcess:
    def __init__(self, folder, hold):
        self.log = folder / "requests"
        self.process = subprocess.Popen([sys.executable, __file__, self.log, str(hold)], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)
        self.port = int(self.process.stdout.readline())

    def requests(self):
        """(method, status, began, ended, bytes, key) in the order in which they ended."""
        for line in self.log.read_text().splitlines():
            method, status, began, ended, count, key = line.split(" ", 5)
            yield method, int(status), int(began), int(ended), int(count), key

    def close(self):
        self.process.communicate(timeout=10)


if __name__ == "__main__":
    serve(*sys.argv[1:])
