"""File systems on a disk whose power may go: what a workflow writes to it is recorded block by block, and a crash image has
all that was flushed, and of the writes after that any.

Needs root, loop devices, nbdkit and nbdfuse.
"""

import os
import shutil
import struct
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

from homes import wait_until

# As recording_disk.py notes them, which only nbdkit can load.
NOTE = "<cQI"

# How each is made, and how large it has to be. Sparse: what is not written takes no room.
FILE_SYSTEMS = {
    "ext4": (["mkfs.ext4", "-q", "-F"], 64 << 20), "xfs": (["mkfs.xfs", "-q", "-f"], 320 << 20),
    "btrfs": (["mkfs.btrfs", "-q", "-f"], 128 << 20)}
PLUGIN = Path(__file__).parent / "recording_disk.py"


def call(*words):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True)
    if done.returncode:
        raise OSError(f"{words[0]}: {done.stderr.strip()}")
    return done.stdout.strip()


def make(kind, image):
    command, size = FILE_SYSTEMS[kind]
    with open(image, "wb") as file:
        file.truncate(size)
    call(*command, image)


@contextmanager
def mounted(source, folder):
    """A file with a file system, or one that nbdfuse shows, as a folder. Unmounting writes all that is left."""
    folder.mkdir(exist_ok=True)
    device = call("losetup", "--find", "--show", source)
    try:
        call("mount", device, folder)
        try:
            yield
        finally:
            call("umount", folder)
    finally:
        call("losetup", "--detach", device)


@contextmanager
def recorded(image, log, folder):
    """The same with each write and flush noted in `log`."""
    socket, fuse = log.with_name("socket"), log.with_name("fuse")
    fuse.mkdir()
    disk = subprocess.Popen(["nbdkit", "-f", "-U", str(socket), "python", str(PLUGIN), f"image={image}", f"log={log}"])
    view = None
    try:
        appears(socket)
        view = subprocess.Popen(["nbdfuse", str(fuse), "--unix", str(socket)])
        appears(fuse / "nbd")
        with mounted(fuse / "nbd", folder):
            yield
    finally:
        if view:
            subprocess.run(["umount", str(fuse)], check=False)
            view.wait()
        disk.terminate()
        disk.wait()


def appears(path):
    if not wait_until(path.exists, 60):
        raise OSError(f"{path} does not appear")


class Recording:
    """What was written, in stretches: each has the writes between two flushes."""

    def __init__(self, log, end):
        """`end`: how many bytes of the log count."""
        data, place = memoryview(log.read_bytes())[:end], 0
        self.stretches = [[]]
        while place < len(data):
            kind, offset, length = struct.unpack_from(NOTE, data, place)
            place += struct.calcsize(NOTE)
            if kind == b"W":
                self.stretches[-1].append((offset, bytes(data[place:place + length])))
                place += length
            elif self.stretches[-1]:
                self.stretches.append([])

    @property
    def writes(self):
        return sum(map(len, self.stretches))


def copy(source, goal):
    call("cp", "--sparse=always", source, goal)


def write(image, writes):
    with open(image, "r+b") as file:
        for offset, data in writes:
            file.seek(offset)
            file.write(data)


def alone():
    """Goes on with mounts of its own: they end with it, and no other process holds one of them."""
    if os.environ.get("ALONE_WITH_MOUNTS") != "yes":
        os.environ["ALONE_WITH_MOUNTS"] = "yes"
        os.execvp("unshare", ["unshare", "--mount", sys.executable, *sys.argv])


def require():
    """Says what is missing, or nothing."""
    if os.geteuid() != 0:
        return "file systems are mounted by root only"
    if missing := [tool for tool in ("nbdkit", "nbdfuse", "mkfs.ext4", "mkfs.xfs", "mkfs.btrfs") if not shutil.which(tool)]:
        return f"missing: {' '.join(missing)}; run scripts/setup images"
    if not Path("/dev/loop-control").exists():
        return "there are no loop devices"
    return None
