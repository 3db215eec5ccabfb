"""Photos, trees of files, and a ledger that knows a million of them."""

import hashlib
import os
import random
import sqlite3
import subprocess
import time
import zlib
from contextlib import closing


def unlike(data, number):
    """The same picture in another file: a comment (ITU-T T.81, B.2.4.5) after the first segment."""
    at = 4 + int.from_bytes(data[4:6], "big")
    text = f"copy {number}".encode()
    return data[:at] + b"\xff\xfe" + (len(text) + 2).to_bytes(2, "big") + text + data[at:]


def tiny_photo(side=16):
    """A JPEG of less than a kilobyte."""
    pixels = bytes((x * 15 % 256, y * 15 % 256, (x ^ y) * 15 % 256)[band]
                   for y in range(side) for x in range(side) for band in range(3))
    return subprocess.run(["cjpeg", "-quality", "75"], input=f"P6 {side} {side} 255\n".encode() + pixels,
                          stdout=subprocess.PIPE, check=True).stdout


def scaled(photo, scale):
    """A smaller picture that is reduced already: encoding it again gains nothing."""
    pixels = subprocess.run(["djpeg", "-scale", scale, photo], stdout=subprocess.PIPE, check=True).stdout
    return subprocess.run(["cjpeg", "-quality", "75", "-optimize"], input=pixels, stdout=subprocess.PIPE,
                          check=True).stdout


def noise_png(number, side=1000):
    """A PNG of 3 MB (W3C PNG, 5): it goes up unchanged, and is more than the buffers of a connection hold."""
    dice = random.Random(number)
    rows = b"".join(b"\0" + dice.randbytes(3 * side) for _ in range(side))
    header = side.to_bytes(4, "big") * 2 + b"\x08\x02\0\0\0"
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(rows, 0)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        len(data).to_bytes(4, "big") + kind + data + zlib.crc32(kind + data).to_bytes(4, "big")
        for kind, data in chunks)


def write_film(path, number, size):
    """Boxes of ISO 14496-12 around noise: what the agent takes for a film, and nobody can compress."""
    dice = random.Random(number)
    block = dice.randbytes(1 << 20)
    with open(path, "wb") as file:
        file.write(b"\0\0\0\x18ftypmp42\0\0\0\0mp42isom" + (size - 24).to_bytes(4, "big") + b"mdat")
        left = size - 32
        while left:
            left -= file.write((left.to_bytes(8, "big") + block)[:left])


def old(folder):
    """Files as they are an hour after they were written: nobody waits for them to settle."""
    past = time.time() - 3600
    for path in folder.rglob("*"):
        if path.is_file():
            os.utime(path, (past, past))


def grow(folder, known, count, per_folder=None, content=lambda number: b"note %d\n" % number, suffix="txt"):
    """Files from number `known` to `count`, written an hour ago, all in `folder` or so many to a folder."""
    past = time.time() - 3600
    for number in range(known, count):
        parent = folder / f"album{number // per_folder:05}" if per_folder else folder
        if per_folder and number % per_folder == 0:
            parent.mkdir()
        path = f"{parent}/IMG_20240615_{number:06}.{suffix}"
        with open(path, "wb") as file:
            file.write(content(number))
        os.utime(path, (past, past))


def fill_ledger(agent, count):
    """So many photos in 100s to a folder, and one folder of 1,000: most are uploaded, some of each hundred are not."""
    now = int(time.time() * 1000)
    states = {7: "pending", 8: "failed", 9: "skipped"}

    def digest(number):
        return hashlib.md5(b"%d" % number, usedforsecurity=False).digest()

    def objects():
        for number in range(1, count + 1):
            md5 = digest(number)
            yield (number, f"users/ana/photos/{md5.hex()}.dat", 400_000, md5, md5 + md5, now)

    def photos(folder):
        for number in range(1, count + 1):
            directory = 1 if number <= 1000 else 2 + (number - 1001) // 100
            state = states.get(number % 1000, "uploaded")
            stored = state == "uploaded"
            yield (number, folder, directory, b"IMG_%06d.jpg" % number, number, state,
                   digest(number) if stored else None, number if stored else None, 1 if stored else None,
                   now if stored else None, now - number,
                   "corrupt: premature end of data" if state == "failed" else None)

    with closing(sqlite3.connect(agent.ledger)) as ledger, ledger:
        folder = ledger.execute("SELECT id FROM folders WHERE kind = 'gallery'").fetchone()[0]
        paths = [b"/thousand"] + [b"/album%05d" % number for number in range((count - 1000) // 100)]
        ledger.executemany("INSERT INTO directories (id, folder_id, path) VALUES (?, ?, ?)",
                           ((index + 1, folder, path) for index, path in enumerate(paths)))
        ledger.executemany(
            "INSERT INTO objects (id, key, size, md5, sha256, content_type, storage_class, restore_state, width,"
            " height, stored_at) VALUES (?, ?, ?, ?, ?, 'image/jpeg', 'STANDARD', 'none', 2048, 1536, ?)", objects())
        ledger.executemany(
            "INSERT INTO photos (id, folder_id, directory_id, name, device, inode, size, modified, state, md5,"
            " object_id, object_generation, uploaded_at, queued_at, error)"
            " VALUES (?, ?, ?, ?, 1, ?, 4000000, 1, ?, ?, ?, ?, ?, ?, ?)",
            photos(folder))
