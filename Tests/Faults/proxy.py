"""Between a program and its store: hands on what comes, and answers otherwise where a plan says so.

A plan is a seed, the faults with which it plays, and how often. What meets a request is drawn from the seed, from what the
request is (method, object, part) and from how often it came: not from when it came, nor beside which others.
"""

import asyncio
import random
import re
import threading
from collections import Counter

from faults import FAULTS

MAXIMUM_HEAD = 1 << 16
# What is another one with each run: ids of shares, of uploads, of pages of a listing, times.
VARYING = ((re.compile(r"/shares/[^/?]+/[^/?]*?(_\d+\.jpg)?(?=$|\?)"), r"/shares/ID/\1"), (re.compile(r"/doctor-\w+/"), "/doctor/"),
           (re.compile(r"(?<=[?&])(uploadId|continuation-token|X-Amz-\w+)=[^&]*&?", re.I), ""), (re.compile(r"/\d{8}T\w+-"), "/T-"))


class Request:
    def __init__(self, method, target, headers, body, awaits):
        self.method, self.target, self.headers, self.body, self.awaits = method, target, headers, body, awaits
        self.path, _, self.query = target.partition("?")

    def header(self, name):
        return next((value for key, value in self.headers if key.lower() == name), None)

    @property
    def name(self):
        """What it asks for, the same one with each run."""
        target = self.target
        for pattern, by in VARYING:
            target = pattern.sub(by, target)
        copied = " copy" if self.header("x-amz-copy-source") else ""
        part = f" {self.header('range')}" if self.header("range") else ""
        return f"{self.method}{copied} {target.rstrip('?&')}{part}"

    @property
    def operation(self):
        """The method, or which of those that share one."""
        for name in ("uploads", "uploadId", "delete-many", "restore", "lifecycle", "list-type"):
            if re.search(rf"(^|&){name.removesuffix('-many')}(=|&|$)", self.query):
                return {"uploadId": "part" if self.method == "PUT" else "complete" if self.method == "POST" else "abort",
                        "list-type": "list"}.get(name, name)
        if self.header("x-amz-copy-source"):
            return "copy"
        return self.method.lower()


class Answer:
    def __init__(self, status, reason, headers, body):
        self.status, self.reason, self.headers, self.body = status, reason, headers, body

    def header(self, name):
        return next((value for key, value in self.headers if key.lower() == name), None)

    def without(self, *names):
        return Answer(self.status, self.reason, [pair for pair in self.headers if pair[0].lower() not in names], self.body)

    def having(self, name, value):
        answer = self.without(name.lower())
        answer.headers.append((name, value))
        return answer

    def bytes(self):
        head = f"HTTP/1.1 {self.status} {self.reason}\r\n" + "".join(f"{name}: {value}\r\n" for name, value in self.headers)
        return head.encode("latin-1") + b"\r\n" + self.body


class Plan:
    """`rate` of the requests are met, each one `times` times at most (None: for ever)."""

    def __init__(self, seed, faults=(), rate=0.0, times=1, only=None):
        self.seed, self.faults, self.rate, self.times, self.only = seed, tuple(faults), rate, times, only
        self.seen, self.met = Counter(), Counter()

    def choose(self, request):
        if self.only and request.operation != self.only:
            return None
        name = request.name
        number = self.seen[name]
        self.seen[name] += 1
        if self.times is not None and number >= self.times:
            return None
        draw = random.Random(f"{self.seed} {name} {number}")
        fitting = [fault for fault in self.faults if FAULTS[fault].fits(request)]
        if not fitting or draw.random() >= self.rate:
            return None
        fault = draw.choice(fitting)
        self.met[fault] += 1
        return fault, draw


class Proxy:
    """Listens on a port of its own, on a thread of its own, until it is closed."""

    def __init__(self, server):
        self.server, self.plan = server, Plan(0)
        self.requests, self.log, self.away = Counter(), [], False
        self.loop = asyncio.new_event_loop()
        ready = threading.Event()
        self.thread = threading.Thread(target=self.serve, args=(ready,), daemon=True)
        self.thread.start()
        ready.wait()

    def serve(self, ready):
        asyncio.set_event_loop(self.loop)
        listener = self.loop.run_until_complete(asyncio.start_server(self.client, "127.0.0.1", 0, limit=MAXIMUM_HEAD))
        self.port = listener.sockets[0].getsockname()[1]
        ready.set()
        self.loop.run_forever()
        listener.close()
        tasks = asyncio.all_tasks(self.loop)
        for task in tasks:
            task.cancel()
        self.loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
        self.loop.close()

    def close(self):
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join()

    def play(self, plan):
        """From now on."""
        self.plan, self.log = plan, []
        self.requests.clear()

    def count(self):
        return self.requests.total()

    async def client(self, reader, writer):
        try:
            while await self.exchange(reader, writer):
                pass
        except (asyncio.IncompleteReadError, asyncio.LimitOverrunError, ConnectionError, TimeoutError,
                asyncio.CancelledError):
            pass
        finally:
            writer.close()

    async def exchange(self, reader, writer):
        """One request and its answer; whether the connection goes on."""
        head = await reader.readuntil(b"\r\n\r\n")
        if self.away:
            writer.transport.abort()
            return False
        method, target, headers = self.parsed(head)
        awaits = any(name.lower() == "expect" for name, _ in headers)
        request = Request(method, target, headers, b"", awaits)
        self.requests[request.operation] += 1
        plan = self.plan
        chosen = plan.choose(request)
        self.log.append((request.name, chosen[0] if chosen else None))
        if chosen is None:
            await self.read_body(request, reader, writer)
            answer = await self.hand_on(request)
            writer.write(answer.bytes())
            await writer.drain()
            return True
        return await FAULTS[chosen[0]].play(self, request, reader, writer, chosen[1])

    @staticmethod
    def parsed(head):
        lines = head.decode("latin-1").split("\r\n")
        method, target, _ = lines[0].split(" ", 2)
        return method, target, [tuple(map(str.strip, line.split(":", 1))) for line in lines[1:] if line]

    async def read_body(self, request, reader, writer):
        if request.awaits:
            writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
            await writer.drain()
        if (request.header("transfer-encoding") or "").lower() == "chunked":
            parts = []
            while size := int((await reader.readline()).split(b";")[0], 16):
                parts.append(await reader.readexactly(size))
                await reader.readline()
            while (await reader.readline()).strip():
                pass
            request.body = b"".join(parts)
        else:
            request.body = await reader.readexactly(int(request.header("content-length") or 0))

    async def hand_on(self, request, body=None):
        """To the server, and its whole answer back."""
        body = request.body if body is None else body
        leave = {"expect", "connection", "transfer-encoding", "content-length"}
        headers = [pair for pair in request.headers if pair[0].lower() not in leave]
        if body or request.method in ("PUT", "POST"):
            headers.append(("Content-Length", str(len(body))))
        headers.append(("Connection", "close"))
        reader, writer = await asyncio.open_connection("127.0.0.1", self.server.port, limit=MAXIMUM_HEAD)
        try:
            head = f"{request.method} {request.target} HTTP/1.1\r\n" + "".join(f"{k}: {v}\r\n" for k, v in headers)
            writer.write(head.encode("latin-1") + b"\r\n" + body)
            await writer.drain()
            return await self.answer_of(request, reader)
        finally:
            writer.close()

    async def answer_of(self, request, reader):
        while True:
            head = await reader.readuntil(b"\r\n\r\n")
            first, *lines = head.decode("latin-1").split("\r\n")
            _, status, *reason = first.split(" ", 2)
            if status != "100":
                break
        headers = [tuple(map(str.strip, line.split(":", 1))) for line in lines if line]
        found = {name.lower(): value for name, value in headers}
        if request.method == "HEAD" or status == "204":
            body = b""
        elif found.get("transfer-encoding", "").lower() == "chunked":
            parts = []
            while size := int((await reader.readline()).split(b";")[0], 16):
                parts.append(await reader.readexactly(size))
                await reader.readline()
            body = b"".join(parts)
        elif "content-length" in found:
            body = await reader.readexactly(int(found["content-length"]))
        else:
            body = await reader.read()
        answer = Answer(int(status), reason[0] if reason else "", headers, body).without("connection", "transfer-encoding")
        if request.method != "HEAD" and status != "204":
            answer = answer.having("Content-Length", str(len(body)))
        return answer
