"""A disk for nbdkit (nbdkit-python-plugin(3)) that notes each write and each flush, with all bytes, in their order.

    nbdkit python recording_disk.py image=FILE log=FILE
"""

import os
import struct

import nbdkit

API_VERSION = 2
# What one note begins with: the kind, the offset, the length; the bytes of a write follow. images.py reads them.
NOTE = "<cQI"
settings = {}


def config(key, value):
    settings[key] = value


def thread_model():
    return nbdkit.THREAD_MODEL_SERIALIZE_ALL_REQUESTS


def open(readonly):
    return {"image": os.open(settings["image"], os.O_RDWR),
            "log": os.open(settings["log"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)}


def close(disk):
    os.close(disk["image"])
    os.close(disk["log"])


def get_size(disk):
    return os.fstat(disk["image"]).st_size


def can_flush(disk):
    return True


def can_fua(disk):
    # A write that is to be on the disk at once comes as a write and a flush.
    return nbdkit.FUA_EMULATE


def can_trim(disk):
    return False


def can_zero(disk):
    return False


def pread(disk, buffer, offset, flags):
    os.preadv(disk["image"], [buffer], offset)


def pwrite(disk, buffer, offset, flags):
    os.pwrite(disk["image"], buffer, offset)
    os.write(disk["log"], struct.pack(NOTE, b"W", offset, len(buffer)) + bytes(buffer))


def flush(disk, flags):
    os.write(disk["log"], struct.pack(NOTE, b"F", 0, 0))
