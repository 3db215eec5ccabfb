"""What a store, or something that stands before it, may do to a request."""

import asyncio
from datetime import datetime, timedelta, timezone
from email.utils import format_datetime

PORTAL = (b"<!DOCTYPE html><html><head><title>Welcome</title></head><body><form action='/login'>Please accept our terms "
          b"to use this network.</form></body></html>")


def error_body(code, message="We encountered an internal error. Please try again."):
    return (f'<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>{code}</Code><Message>{message}</Message>'
            f"<RequestId>4442587FB7D0A2F9</RequestId></Error>").encode()


def is_read(request):
    return request.method == "GET"


def writes(request):
    return request.method in ("PUT", "POST", "DELETE")


def sends(request):
    """Bytes of an object: what else is sent has digests that the stores of the trials do not look at."""
    return request.operation in ("put", "part") and int(request.header("content-length") or 0) > 0


def expects_more(request):
    """An empty success is what a store says to a DELETE that it has carried out, and to a restore."""
    return request.operation not in ("delete", "restore", "abort")


def anything(request):
    return True


class Fault:
    """`play` answers in place of the store, and tells whether the connection goes on."""

    def __init__(self, name, play, fits=anything):
        self.name, self.action, self.fits = name, play, fits

    async def play(self, proxy, request, reader, writer, draw):
        return await self.action(Case(proxy, request, reader, writer, draw))


class Case:
    """One request that is met by a fault."""

    def __init__(self, proxy, request, reader, writer, draw):
        self.proxy, self.request, self.reader, self.writer, self.draw = proxy, request, reader, writer, draw

    async def read(self):
        await self.proxy.read_body(self.request, self.reader, self.writer)

    async def done(self, body=None):
        """The store does what it was asked for; its answer."""
        if not self.request.body:
            await self.read()
        return await self.proxy.hand_on(self.request, body)

    async def say(self, status, reason, body=b"", headers=()):
        """An answer that is not the store's."""
        kind = "application/xml" if body.startswith(b"<?xml") else "text/html"
        lines = [("Date", format_datetime(datetime.now(timezone.utc), usegmt=True)), ("Content-Type", kind),
                 ("Content-Length", str(len(body))), *headers]
        dates = [line for line in headers if line[0] == "Date"]
        if dates:
            lines = lines[1:]
        head = f"HTTP/1.1 {status} {reason}\r\n" + "".join(f"{name}: {value}\r\n" for name, value in lines) + "\r\n"
        self.writer.write(head.encode() + (b"" if self.request.method == "HEAD" else body))
        await self.writer.drain()
        return True

    async def send(self, data):
        self.writer.write(data)
        await self.writer.drain()
        return True

    def reset(self):
        """RST, and not an end: what is on its way is thrown away."""
        self.writer.transport.abort()
        return False

    def place(self, size):
        return self.draw.randrange(size) if size else 0


def answers(status, reason, body=b"", headers=(), after=False):
    """Before anything was done, or after all was."""
    async def play(case):
        if after:
            await case.done()
        else:
            await case.read()
        return await case.say(status, reason, body, headers)
    return play


async def reset_before(case):
    return case.reset()


async def reset_in_request(case):
    """In the middle of what is sent; nothing arrives."""
    if case.request.awaits:
        await case.send(b"HTTP/1.1 100 Continue\r\n\r\n")
    size = int(case.request.header("content-length") or 0)
    if size:
        await case.reader.readexactly(max(1, case.place(size)))
    return case.reset()


async def reset_after(case):
    await case.done()
    return case.reset()


async def cut_answer(case):
    """The head tells of more bytes than come."""
    answer = await case.done()
    data = answer.bytes()
    start = len(data) - len(answer.body)
    await case.send(data[:start + case.place(len(answer.body))] if answer.body else data[:case.place(start)])
    return False


async def short_answer(case):
    """Half of the bytes, and a length that fits them."""
    answer = await case.done()
    answer.body = answer.body[:case.place(len(answer.body))]
    await case.send(answer.having("Content-Length", str(len(answer.body))).bytes())
    return True


async def no_length(case):
    """The end of the answer is the end of the connection."""
    answer = await case.done()
    await case.send(answer.without("content-length").having("Connection", "close").bytes())
    return False


async def cut_without_length(case):
    answer = await case.done()
    answer.body = answer.body[:case.place(len(answer.body))]
    await case.send(answer.without("content-length").having("Connection", "close").bytes())
    return False


async def long_length(case):
    """One byte more is told than there is, and the connection ends."""
    answer = await case.done()
    await case.send(answer.having("Content-Length", str(len(answer.body) + 1)).bytes())
    return False


async def stall(case):
    await case.read()
    await asyncio.sleep(0.4)
    return await case.send((await case.done()).bytes())


async def stall_in_answer(case):
    data = (await case.done()).bytes()
    await case.send(data[:len(data) // 2])
    await asyncio.sleep(0.4)
    return await case.send(data[len(data) // 2:])


async def twice(case):
    """Something on the way repeats the request; the second answer comes."""
    await case.done()
    return await case.send((await case.done()).bytes())


async def twice_first(case):
    """As above, and the first one comes."""
    answer = await case.done()
    await case.done()
    return await case.send(answer.bytes())


def flipped(data, at):
    return data[:at] + bytes([data[at] ^ 32]) + data[at + 1:] if data else data


async def altered_request(case):
    """One bit of what is sent."""
    await case.read()
    return await case.send((await case.done(flipped(case.request.body, case.place(len(case.request.body))))).bytes())


async def short_request(case):
    """The store gets, and takes, less than was sent."""
    await case.read()
    return await case.send((await case.done(case.request.body[:case.place(len(case.request.body))])).bytes())


async def altered_answer(case):
    answer = await case.done()
    answer.body = flipped(answer.body, case.place(len(answer.body)))
    return await case.send(answer.bytes())


async def other_tag(case):
    answer = await case.done()
    if answer.header("etag"):
        answer = answer.having("ETag", '"00000000000000000000000000000000"')
    return await case.send(answer.bytes())


async def no_tag(case):
    return await case.send((await case.done()).without("etag").bytes())


async def no_metadata(case):
    answer = await case.done()
    answer.headers = [pair for pair in answer.headers if not pair[0].lower().startswith("x-amz-meta-")]
    return await case.send(answer.bytes())


async def no_headers(case):
    """Only what HTTP itself needs."""
    answer = await case.done()
    answer.headers = [pair for pair in answer.headers if pair[0].lower() == "content-length"]
    return await case.send(answer.bytes())


async def range_ignored(case):
    """The whole object where a part was asked for."""
    case.request.headers = [pair for pair in case.request.headers if pair[0].lower() != "range"]
    return await case.send((await case.done()).bytes())


async def skewed(case):
    """An hour off, as the store says."""
    await case.read()
    date = format_datetime(datetime.now(timezone.utc) + timedelta(hours=1), usegmt=True)
    body = error_body("RequestTimeTooSkewed", "The difference between the request time and the current time is too large.")
    return await case.say(403, "Forbidden", body, [("Date", date)])


async def redirect(case, status, reason, goal):
    await case.read()
    return await case.say(status, reason, b"", [("Location", goal.format(case=case))])


def redirects(status, reason, goal):
    return lambda case: redirect(case, status, reason, goal)


async def garbage(case):
    await case.read()
    await case.send(b"\x15\x03\x01\x00\x02\x02\x46 this is no HTTP\r\n\r\n")
    return False


async def nothing_said(case):
    await case.read()
    return False


def is_ranged(request):
    return request.header("range") is not None


LOGIN = "http://127.0.0.1:9/login"
HERE = "http://127.0.0.1:{case.proxy.port}{case.request.target}"
ERROR_200 = error_body("InternalError")
FAULTS = {fault.name: fault for fault in (
    Fault("500-before", answers(500, "Internal Server Error", error_body("InternalError"))),
    Fault("500-after", answers(500, "Internal Server Error", error_body("InternalError"), after=True)),
    Fault("502-html", answers(502, "Bad Gateway", b"<html><h1>502 Bad Gateway</h1></html>")),
    Fault("503-slow-down", answers(503, "Slow Down", error_body("SlowDown", "Please reduce your request rate."))),
    Fault("503-after", answers(503, "Service Unavailable", b"", after=True)),
    Fault("504-after", answers(504, "Gateway Timeout", b"<html>timeout</html>", after=True)),
    Fault("507", answers(507, "Insufficient Storage", b"disk full"), writes),
    Fault("429", answers(429, "Too Many Requests", error_body("TooManyRequests"))),
    Fault("429-retry-after", answers(429, "Too Many Requests", b"", [("Retry-After", "1")])),
    Fault("429-retry-never", answers(429, "Too Many Requests", b"", [("Retry-After", "9999999")])),
    Fault("400", answers(400, "Bad Request", b"<html>Bad Request</html>")),
    Fault("400-after", answers(400, "Bad Request", b"", after=True)),
    Fault("400-timeout", answers(400, "Bad Request", error_body("RequestTimeout"))),
    Fault("403", answers(403, "Forbidden", b"<html>blocked by your administrator</html>")),
    Fault("404", answers(404, "Not Found", b"<html>no such page</html>")),
    Fault("404-key", answers(404, "Not Found", error_body("NoSuchKey"))),
    Fault("404-bucket", answers(404, "Not Found", error_body("NoSuchBucket"))),
    Fault("404-upload", answers(404, "Not Found", error_body("NoSuchUpload"))),
    Fault("405", answers(405, "Method Not Allowed", error_body("MethodNotAllowed"))),
    Fault("407", answers(407, "Proxy Authentication Required", b"", [("Proxy-Authenticate", "Basic realm=x")])),
    Fault("408", answers(408, "Request Timeout", b"")),
    Fault("409", answers(409, "Conflict", error_body("OperationAborted"))),
    Fault("409-after", answers(409, "Conflict", error_body("OperationAborted"), after=True)),
    Fault("410", answers(410, "Gone", b"")),
    Fault("412", answers(412, "Precondition Failed", error_body("PreconditionFailed")), writes),
    Fault("413", answers(413, "Payload Too Large", b"<html>too large</html>"), sends),
    Fault("418", answers(418, "I'm a teapot", b"short and stout")),
    Fault("501", answers(501, "Not Implemented", error_body("NotImplemented"))),
    Fault("200-error", answers(200, "OK", ERROR_200)),
    Fault("200-error-after", answers(200, "OK", ERROR_200, after=True)),
    Fault("200-empty", answers(200, "OK", b""), expects_more),
    Fault("204", answers(204, "No Content", b""), expects_more),
    Fault("206", answers(206, "Partial Content", b"part")),
    Fault("portal", answers(200, "OK", PORTAL)),
    Fault("301", redirects(301, "Moved Permanently", LOGIN)),
    Fault("302", redirects(302, "Found", LOGIN)),
    Fault("302-here", redirects(302, "Found", HERE)),
    Fault("307-here", redirects(307, "Temporary Redirect", HERE)),
    Fault("307", redirects(307, "Temporary Redirect", LOGIN)),
    Fault("reset-before", reset_before),
    Fault("reset-in-request", reset_in_request),
    Fault("reset-after", reset_after),
    Fault("no-answer", nothing_said),
    Fault("no-http", garbage),
    Fault("cut-answer", cut_answer),
    Fault("short-answer", short_answer, is_read),
    Fault("no-length", no_length),
    Fault("cut-without-length", cut_without_length, is_read),
    Fault("long-length", long_length, is_read),
    Fault("stall", stall),
    Fault("stall-in-answer", stall_in_answer),
    Fault("twice", twice, writes),
    Fault("twice-first", twice_first, writes),
    Fault("altered-request", altered_request, sends),
    Fault("short-request", short_request, sends),
    Fault("altered-answer", altered_answer, is_read),
    Fault("other-tag", other_tag),
    Fault("no-tag", no_tag),
    Fault("no-metadata", no_metadata),
    Fault("no-headers", no_headers),
    Fault("range-ignored", range_ignored, is_ranged),
    Fault("clock", skewed),
)}
