"""Clients of the gallery that mean harm, as raw sockets."""

import re
import resource
import socket
import time
from contextlib import closing, contextmanager
from pathlib import Path

REFUSED = {400, 401, 403, 404, 405, 408, 411, 413, 414, 421, 431, 501, 505}


def request(target="/", *headers, method="GET", host=None, version="HTTP/1.1", port=0):
    lines = [f"{method} {target} {version}", f"Host: {host or f'127.0.0.1:{port}'}", *headers]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


class Gallery:
    """The process that shows it, from outside."""

    def __init__(self, home):
        self.home, self.port, self.cookie = home, home.port, ""

    def connect(self, receive=None):
        client = socket.socket()
        if receive:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive)
        client.settimeout(30)
        client.connect(("127.0.0.1", self.port))
        return client

    def say(self, data, seconds=30):
        """What is answered until the connection ends, or nothing comes for so long."""
        with closing(self.connect()) as client:
            client.settimeout(seconds)
            parts = []
            try:
                client.sendall(data)
            except OSError:
                pass
            try:
                while part := client.recv(1 << 16):
                    parts.append(part)
            except OSError:
                pass
            return b"".join(parts)

    def ask(self, target, *headers, body=None, method=None, host=None, cookie=True):
        """(status or 0, the whole answer)."""
        headers = [*headers, "Connection: close"]
        if cookie and self.cookie:
            headers.append(f"Cookie: {self.cookie}")
        if body is not None:
            headers += [f"Content-Length: {len(body)}", "Content-Type: application/x-www-form-urlencoded"]
        data = self.say(request(target, *headers, method=method or ("POST" if body is not None else "GET"), host=host,
                                port=self.port) + (body or b""))
        return status(data), data

    def sign_in(self, link):
        data = self.ask("/" + link.split("/", 3)[3])[1]
        self.cookie = re.search(rb"(?i)set-cookie: (sync_agent_session=[^;]+)", data)[1].decode()

    def memory(self):
        """MiB that are resident."""
        text = Path(f"/proc/{self.home.agent.pid}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+)", text)[1]) / 1024

    def descriptors(self):
        return len(list(Path(f"/proc/{self.home.agent.pid}/fd").iterdir()))

    def is_up(self):
        return self.home.agent.poll() is None


def status(data):
    found = re.match(rb"HTTP/1\.[01] (\d{3})", data)
    return int(found[1]) if found else 0


def statuses(data):
    return [int(found) for found in re.findall(rb"HTTP/1\.[01] (\d{3}) ", data)]


@contextmanager
def open_connections(gallery, count, first=b"", receive=None):
    """So many, which have said `first`; closed at the end."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    clients = []
    try:
        for _ in range(min(count, most - 200) if most > 0 else count):
            clients.append(gallery.connect(receive))
            if first:
                clients[-1].sendall(first)
        yield clients
    finally:
        for client in clients:
            client.close()


def trickle(gallery, first, drops, pause, seconds):
    """Says `first`, then drop by drop, until an answer or the end comes: (status, seconds)."""
    began = time.monotonic()
    with closing(gallery.connect()) as client:
        client.sendall(first)
        client.settimeout(pause)
        answer = b""
        for drop in drops:
            try:
                part = client.recv(1 << 16)
                answer += part
                if not part:
                    break
            except TimeoutError:
                pass
            except OSError:
                break
            if answer or time.monotonic() - began > seconds:
                break
            try:
                client.sendall(drop)
            except OSError:
                break
        return status(answer), time.monotonic() - began


RUBBISH = {
    "bytes of all kinds": bytes(range(256)) * 64,
    "a greeting of TLS": bytes.fromhex("1603010200010001fc0303") + b"\x5a" * 500,
    "the preface of HTTP/2": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "a version of the future": request(version="HTTP/9.9", host="127.0.0.1"),
    "no version": b"GET /\r\n\r\n",
    "two lengths": request("/login", "Content-Length: 5", "Content-Length: 6", method="POST", host="127.0.0.1") + b"abcdef",
    "a length and chunks": request("/login", "Content-Length: 4", "Transfer-Encoding: chunked", method="POST", host="127.0.0.1")
    + b"0\r\n\r\nGET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
    "a length below nothing": request("/login", "Content-Length: -1", method="POST", host="127.0.0.1"),
    "a length beyond all": request("/login", "Content-Length: 99999999999999999999999", method="POST", host="127.0.0.1"),
    "chunks of no size": request("/login", "Transfer-Encoding: chunked", method="POST", host="127.0.0.1") + b"zz\r\n\r\n",
    "an unknown coding": request("/login", "Transfer-Encoding: gzip", method="POST", host="127.0.0.1"),
    "a zero byte in a header": b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX: a\0b\r\n\r\n",
    "a space before the colon": b"POST /login HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length : 3\r\n\r\nabc",
    "a header without a name": b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n: x\r\n\r\n",
    "a folded header": b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX: a\r\n b\r\n\r\n",
    "lines without an end": b"GET / HTTP/1.1\r\n" + b"\r\n".join(b"X%d: y" % n for n in range(10_000)),
    "a tunnel": request("evil.example:443", method="CONNECT", host="127.0.0.1"),
    "an unknown method": request("/", method="BREW", host="127.0.0.1"),
}
# Of each what it must be answered with.
LARGE = {
    "a header of a megabyte": (request("/", "X: " + "y" * (1 << 20), host="127.0.0.1"), {431}),
    "a hundred lines of header": (request("/", *(f"X{n}: y" for n in range(100)), host="127.0.0.1"), {431}),
    "a target of 100 kB": (request("/" + "a" * 100_000, host="127.0.0.1"), {414}),
    "a target of a megabyte": (request("/?q=" + "a" * (1 << 20), host="127.0.0.1"), {414}),
    "a body of a megabyte": (request("/login", f"Content-Length: {1 << 20}", method="POST", host="127.0.0.1") + b"x" * (1 << 20),
                             {413}),
    "a body of ten gigabytes, promised": (request("/login", f"Content-Length: {10 << 30}", method="POST", host="127.0.0.1"),
                                          {413}),
    "chunks without an end": (request("/login", "Transfer-Encoding: chunked", method="POST", host="127.0.0.1")
                              + b"1000\r\n" * 1 + b"x" * 4096 + b"\r\n" + (b"1000\r\n" + b"x" * 4096 + b"\r\n") * 100, {413}),
}
DOTS = ("..", "%2e%2e", "%2E%2E", ".%2e", "%2e.", "%252e%252e", "%c0%ae%c0%ae", "%u002e%u002e", "..;", "...", "..%00", "..%5c..",
        "..\\..", "%e0%80%ae%e0%80%ae", "..%2f..", "..%252f..", ".. ", "..%20")
GOALS = ("serve.key", "state/sync-agent/serve.key", "home/state/sync-agent/serve.key", "config.yaml", "home/config.yaml",
         "etc/passwd", "sync-agent-store.json", "users/ana", "records")


def traversals(share):
    """Targets that must lead nowhere."""
    for base in (f"/s/{share}/", "/s/", "/assets/", "/assets/site.css/", "/"):
        for dots in DOTS:
            for depth in (1, 2, 4, 8):
                for goal in GOALS[:6] if depth != 8 else GOALS:
                    yield base + f"{dots}/" * depth + goal
    for goal in ("/etc/passwd", "//etc/passwd", "%2fetc%2fpasswd", "file:///etc/passwd", "C:%5cboot.ini"):
        for base in (f"/s/{share}/", "/s/", "/assets/", "/thumbnail/", "/photo/"):
            yield base + goal
    yield from ("//", "/./", "/.%2f", "/s/%00", f"/s/{share}%00/", f"/s/{share}/%00", f"/s/{share}/index.html%00.jpg",
                f"/s/{share}//../../", f"/s/{share}/.", f"/s/{share}/index.html/..", "/assets/%00", "*", "http://evil.example/s/")


HOSTS = ("evil.example", "127.0.0.1.evil.example", "localhost.evil.example", "evil.example:80", "127.0.0.1@evil.example",
         "evil.example#127.0.0.1", "127.1", "0x7f000001", "2130706433", "localhost:80@evil", "xn--evil", "256.0.0.1", "1.2.3.4.5", "%31")
