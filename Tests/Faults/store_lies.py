"""What the judges of the far store must find: a run that went well, and one thing that is not so afterwards."""

import json
import subprocess
from hashlib import md5, sha256
from http.client import HTTPConnection, HTTPException

from faults import FAULTS
from homes import EVENTS, TRIP, flip
from lies import ONE, first, halve, without
from proxy import Plan, Proxy
from servers import Bucket


def other_bytes(home, key):
    data = bytearray(home.bucket.get(key))
    data[len(data) // 2] ^= 255
    home.bucket.put(key, bytes(data))


def key_like(home, start, end):
    return next(key for key in home.bucket.listing() if key.startswith(start) and key.endswith(end))


# The workflow, what is not so, and how it comes.
LIES = (
    ("sync", "an object is gone", lambda home: home.bucket.delete(ONE)),
    ("sync", "an object has other bytes", lambda home: other_bytes(home, ONE)),
    ("sync", "a photo is gone", lambda home: (home.pictures / "Gallery/one.jpg").unlink()),
    ("sync", "a photo was cut", lambda home: halve(home.pictures / f"Vacations/{TRIP}/four.jpg")),
    ("run", "an object is gone", lambda home: home.bucket.delete(ONE)),
    ("saving", "a restored photo is half", lambda home: halve(home.out / "Gallery/one.jpg")),
    ("saving", "a restored photo is not there", lambda home: (home.out / "Gallery/one.jpg").unlink()),
    ("share", "a shared photo is gone", lambda home: home.bucket.delete(key_like(home, "shares/", "_1.jpg"))),
    ("share", "a shared photo has other bytes", lambda home: other_bytes(home, key_like(home, "shares/", "_0.jpg"))),
    ("share", "the page is gone", lambda home: home.bucket.delete(key_like(home, "shares/", "index.html"))),
    ("share", "the share is not there", lambda home: home.bucket.delete(key_like(home, "shares/", "vacation.json"))),
    ("revoke", "a photo of it is there", lambda home: home.bucket.put(f"shares/{home.share}/{home.share}_0.jpg", b"x")),
    ("mirror", "a mirrored photo is half", lambda home: halve(first(home.out, "*.jpg"))),
    ("cleanup", "an archived photo is gone", lambda home: home.bucket.delete(key_like(home, "gallery-archive/", ".jpg"))),
    ("cleanup", "an archived photo has other bytes",
     lambda home: other_bytes(home, key_like(home, "gallery-archive/", ".jpg"))),
    ("cleanup", "a young event is gone", lambda home: without(home.folder / EVENTS, "ev-d")),
    ("projects-delete", "its object is there", lambda home: home.bucket.put("users/ana/projects/p1.jpg", b"x")),
    ("projects-delete", "another image is gone", lambda home: home.bucket.delete("users/ana/projects/p2.jpg")),
    ("verify", "an object has rotted again", lambda home: other_bytes(home, ONE)),
    ("archive-zip", "the archive is half", lambda home: halve(home.folder / "archive.zip")),
)
# Of these the client sees nothing but time, or the store alone sees it.
UNSEEN = {"stall", "stall-in-answer", "twice", "twice-first"}


def faults_that_do_nothing(server):
    """The names of the faults with which a client sees, and the store holds, the same as without."""
    bucket, proxy = Bucket(server, "faults"), Proxy(server)
    bucket.make()
    silent = []
    try:
        for name in FAULTS.keys() - UNSEEN:
            differs = False
            for method, headers in (("PUT", {"x-amz-meta-a": "b"}), ("GET", {}), ("HEAD", {}), ("GET", {"Range": "bytes=1-5"})):
                bucket.put("key", b"before", {"x-amz-meta-a": "b"})
                proxy.play(Plan(0))
                plain = seen(proxy, bucket, method, headers)
                bucket.put("key", b"before", {"x-amz-meta-a": "b"})
                proxy.play(Plan(1, [name], 1.0, 1))
                differs = differs or seen(proxy, bucket, method, headers) != plain
            if not differs:
                silent.append(name)
    finally:
        proxy.close()
        bucket.empty()
    return silent


def seen(proxy, bucket, method, headers):
    connection = HTTPConnection("127.0.0.1", proxy.port, timeout=10)
    signed = bucket.server.signed(method, bucket.path("key"), headers)
    try:
        connection.request(method, bucket.path("key"), b"the body of a put" if method == "PUT" else None, signed)
        answer = connection.getresponse()
        found = [answer.status, sorted((k, v) for k, v in answer.getheaders() if k.lower() in
                                       ("content-length", "etag", "location", "x-amz-meta-a", "retry-after")),
                 answer.read()]
    except (OSError, HTTPException) as error:
        found = [type(error).__name__]
    finally:
        connection.close()
    return found + [bucket.get("key")]


# For scripts/together: a history on a disk that went well, and what is not so afterwards.


def hold(machine, path):
    """In place of its agent, something that keeps a file open and does nothing."""
    with open(path, "rb") as file:
        machine.agent = subprocess.Popen(["sleep", "60"], stdin=file)
    machine.log = open(machine.slot / "held", "wb")


def pool(history):
    path, _ = sorted(history.a.given.items())[0]
    return history.path / f"objects/users/ana/photos/{md5(history.a.given[path]).hexdigest()}.dat"


def stranger(history, key):
    data = history.path / "objects" / key
    data.parent.mkdir(parents=True, exist_ok=True)
    data.write_bytes(b"x")
    record = history.path / f"records/{key}~.json"
    record.parent.mkdir(parents=True, exist_ok=True)
    record.write_text(json.dumps({"key": key, "file": key, "sha256": sha256(b"x").hexdigest()}))


TOGETHER = (
    ("an object is gone", lambda history: pool(history).unlink()),
    ("an object has other bytes", lambda history: flip(pool(history))),
    ("a photo is gone", lambda history: (history.a.pictures / sorted(history.a.given)[0]).unlink()),
    ("a photo that nobody has", lambda history: stranger(history, f"users/ana/photos/{'0' * 32}.dat")),
    ("a share of nobody", lambda history: stranger(history, "shares/00000000-0000-4000-8000-000000000000/x.jpg")),
    ("an object without a reason", lambda history: stranger(history, "users/ana/what.dat")),
    ("a shared photo is gone", lambda history: first(history.path / "objects/shares", "*_1.jpg").unlink()),
    ("a manifest of a share is gone", lambda history: first(history.path / "objects/shares", "vacation.json").unlink()),
    ("a trip has no manifest", lambda history: first(history.path / "objects/users/ana/vacations", "Paris*.json").unlink()),
    ("a young event is gone", lambda history: without(history.a.folder / EVENTS, "ev-2")),
    ("an old event went without its photo in the archive",
     lambda history: first(history.path / "objects/gallery-archive", "*.jpg").unlink()),
    # The last one: it leaves a process, which is ended as an agent is.
    ("an agent keeps an object open", lambda history: hold(history.a, pool(history))),
)
