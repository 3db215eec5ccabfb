"""What can go wrong at a system call, and how strace makes it so.

strace counts the calls of each thread by themselves: `when=3` is the third call of that name in every thread that gets
so far. Without more, that counts what the loader and the runtime do, too. So a point comes in two ways: *named*, where
only calls on the paths that a faultless run has touched count (`strace -P`), and *plain*, where all count, for files
whose names are new each time. Which number to take is read from the trace of a faultless run.
"""

import re
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

from programs import library

SHORT_WRITES = Path(__file__).parent / "short-writes.c"

# What is broken, and how; docs/testing.md says what is left out and why. EINTR only where Linux has it for files; "short" is
# the early end of a read. strace cannot cut a write short, only claim bytes that were not written: "half" is the work of
# short-writes.c. EROFS is a disk that turns read-only, EDQUOT a quota, ESTALE a network mount that knows a file no more.
# ENOSPC also where something is taken away or stamped: a file system that copies on write needs room for it.
OPENS = {"openat": ("EIO", "ENOSPC", "EMFILE", "EINTR", "ESTALE", "KILL")}
# Only of an open that writes or makes something: no other one meets them.
OPENS_TO_WRITE = ("EROFS", "EDQUOT")
READS = {name: ("EIO", "EINTR", "ESTALE", "short", "KILL") for name in ("read", "pread64")}
WRITES = {**{name: ("EIO", "ENOSPC", "EDQUOT", "EINTR", "KILL") for name in ("write", "pwrite64", "fsync", "fdatasync")},
          **{name: ("EIO", "ENOSPC", "EINTR", "KILL") for name in ("ftruncate", "sync_file_range")}}
NAMES = {**{name: ("EIO", "ENOSPC", "EROFS", "EDQUOT", "ESTALE", "KILL") for name in ("rename", "renameat", "renameat2")},
         **{name: ("EIO", "ENOSPC", "EROFS", "EDQUOT", "KILL") for name in ("link", "linkat", "mkdir", "mkdirat")},
         **{name: ("EIO", "ENOSPC", "EROFS", "KILL") for name in ("unlink", "unlinkat", "rmdir")}}
STAMPS = {name: ("EIO", "ENOSPC", "EROFS", "KILL") for name in ("utimensat", "chmod", "fchmod", "fchown")}
LOOKS = {**{name: ("EIO", "ESTALE") for name in ("newfstatat", "statx")},
         **{name: ("EIO",) for name in ("statfs", "access", "readlink", "lseek", "listxattr", "flistxattr")},
         "getdents64": ("EIO", "ESTALE", "KILL"), "fcntl": ("EIO", "EINTR"), "flock": ("EIO", "EINTR"),
         "close": ("EIO", "EINTR", "KILL"), "mmap": ("ENOMEM",)}
COPIES = {"copy_file_range": ("EIO", "ENOSPC", "EINTR", "KILL"), "ioctl": ("EIO", "ENOSPC")}
WATCHES = {"inotify_init1": ("EMFILE",), "inotify_add_watch": ("ENOSPC", "EIO", "KILL")}
WORKERS = {name: ("EMFILE",) for name in ("memfd_create", "pipe2", "socketpair")}
NETWORK = {"socket": ("EMFILE",), "connect": ("ETIMEDOUT", "KILL"), "sendto": ("ECONNRESET", "KILL"),
           "recvfrom": ("ECONNRESET", "short", "KILL")}
# These are given no path, and make a descriptor of ours all the same.
PATHLESS = ("inotify_init1", *WORKERS)
HALVES = ("write", "pwrite64")
FAULTS = {**OPENS, **READS, **WRITES, **NAMES, **STAMPS, **LOOKS, **COPIES, **WATCHES, **WORKERS, **NETWORK}
# From that call on, whatever is done to these files: a drive that has died, a disk that stays full. Only on paths that are
# known, so that nothing else of the program's is met.
LASTING = {**{name: ("EIO+", "ESTALE+") for name in ("openat", "read", "pread64", "newfstatat", "statx", "getdents64")},
           **{name: ("EIO+", "ENOSPC+", "EDQUOT+") for name in (*HALVES, "fsync", "fdatasync")},
           "ftruncate": ("EIO+", "ENOSPC+"),
           **{name: ("EIO+", "ENOSPC+", "EROFS+", "EDQUOT+", "ESTALE+") for name in ("rename", "renameat2")},
           **{name: ("EIO+", "ENOSPC+", "EROFS+", "EDQUOT+") for name in ("link", "mkdir")},
           **{name: ("EIO+", "ENOSPC+", "EROFS+") for name in ("unlink", "unlinkat", "rmdir")}}
# These last for the whole run: a quota on the size of files (KiB; writes come out short and then fail), descriptors.
FILE_SIZES = (0, 1, 2, 3, 4, 8, 16, 32, 64, 128)
# With fewer than 64 the program does not begin, and says so.
DESCRIPTORS = (32, *range(64, 96, 2))

LINE = re.compile(r"^(\d+) +(\w+)\((.*)$")
WRITING = re.compile(r"\bO_(WRONLY|RDWR|CREAT|TMPFILE)\b")
PATH = re.compile(r'<(/[^>]*)>|"(/[^"]*)"')
HEX = re.compile(r"[0-9a-f]{8}-[0-9a-f-]{27}|[0-9a-f]{12,}|\d{4,}")


@dataclass(frozen=True)
class Point:
    """One thing that goes wrong: `fault` at the call number `when`; of `prlimit`, a limit of the whole process."""

    call: str
    fault: str
    when: int
    named: bool = False

    @classmethod
    def parse(cls, text):
        call, fault, when, *rest = text.split(":")
        return cls(call, fault, int(when), rest == ["named"])

    def __str__(self):
        return f"{self.call}:{self.fault}:{self.when}" + (":named" if self.named else "")

    def wrap(self, command, log, paths, home):
        """The command line that runs `command` with this fault, in the home folder `home`."""
        if self.fault == "half":
            return ["env", f"LD_PRELOAD={library(SHORT_WRITES)}", f"SHORT_WRITE_BELOW={home}/", f"SHORT_WRITE_AT={self.when}",
                    f"SHORT_WRITE_LOG={log}", *command]
        if self.call == "prlimit":
            limit = f"--fsize={self.when * 1024}" if self.fault == "size" else f"--nofile={self.when}"
            return ["prlimit", limit, *command]
        what = {"KILL": "signal=KILL", "short": "retval=0"}.get(self.fault, f"error={self.fault.rstrip('+')}")
        when = f"{self.when}+" if self.fault.endswith("+") else self.when
        only = [word for path in sorted(paths) for word in ("-P", path)] if self.named else []
        # With --seccomp-bpf, strace 6.1 drops the signal of all calls but the first.
        quick = () if self.fault == "KILL" else ("--seccomp-bpf",)
        return ["strace", "-D", "-f", "-y", *quick, "-o", log, *only, "-e", f"trace={self.call},close,execve",
                "-e", f"inject={self.call}:{what}:when={when}", *command]

    def hits(self, log, code):
        """The calls that failed so, by the log. A limit needs no hit: it is there all the time."""
        if self.call == "prlimit":
            return [f"{self.fault} limit {self.when}"]
        if self.fault == "half":
            return [f'{self.call}("{path}")' for path in log.read_text().splitlines()] if log.exists() else []
        with open(log, errors="replace") as file:
            lines = file.read().splitlines()
        if self.fault == "KILL" and code == -9:
            # The call that never came back.
            last = [line.split(" ", 1)[1].strip() for line in lines if f" {self.call}(" in line and line.endswith("?")]
            return last[-1:] or [f"{self.call} number {self.when}"]
        found, begun = [], {}
        for line in lines:
            thread, _, rest = line.partition(" ")
            if rest.endswith("<unfinished ...>"):
                begun[thread] = rest.strip()
            elif "(INJECTED)" in line:
                found.append(begun.get(thread, "") if "resumed>" in rest else rest.strip())
        return found


def closed_twice(log):
    """The first close(2) of a descriptor that is open no more: another thread's file may have its number.

    Not of a process that is to become another program (posix_spawn(3)): it closes what was open before it was made. One
    that is killed meanwhile has become none yet; it is known by its standard error, which we close nowhere, and by
    doing nothing else to files: a thread of ours that closes its standard error does, and hides nothing. And not of -1, which no file has: libcurl closes both ends of a pipe that it could not make when it was opened.
    """
    if not log.exists():
        return None
    with open(log, errors="replace") as file:
        lines = file.read().splitlines()
    ours = lines[0].split(" ", 1)[0] if lines else ""
    busy = {line.split(" ", 1)[0] for line in lines
            if (match := LINE.match(line)) and match[2] not in ("close", "execve", "fcntl") and '"/dev/' not in line}
    closing = {line.split(" ", 1)[0] for line in lines if re.search(r"^\d+ +close\(2[<)]", line)}
    others = ({line.split(" ", 1)[0] for line in lines if " execve(" in line} | closing - busy) - {ours}
    return next((line.strip() for line in lines if "EBADF" in line and "close" in line and "close(-1)" not in line
                 and "INJECTED" not in line and line.split(" ", 1)[0] not in others), None)


def told(hits, home):
    """The calls that failed, in few words: which, and on what."""
    words = []
    for hit in hits:
        paths = [one or other for one, other in PATH.findall(hit)]
        path = next((path.removeprefix(home) for path in paths if path.startswith(home)), "(elsewhere)")
        words.append(f"{hit.partition('(')[0]} {path}" if "(" in hit else hit)
    return "; ".join(words[:8])


def tracing(command, log):
    """The command line that runs `command` and notes all that FAULTS is about."""
    return ["strace", "-D", "-f", "-yy", "--seccomp-bpf", "-o", log, "-e", f"trace={','.join(FAULTS)}", *command]


def kind_of(path, home):
    """A path without what differs from run to run."""
    return HEX.sub("#", path.removeprefix(home))


class Trace:
    """The calls of a faultless run below some folders."""

    def __init__(self, log, folders):
        self.folders = tuple(folders)
        self.paths = set()
        calls = []
        with open(log, errors="replace") as file:
            for line in file:
                if match := LINE.match(line):
                    found = [a or b for a, b in PATH.findall(match[3])]
                    ours = [path for path in found if path.startswith(self.folders)]
                    network = match[2] in NETWORK and "TCP:" in line or match[2] in PATHLESS or "F_DUPFD" in line
                    writes = match[2] == "openat" and WRITING.search(match[3]) is not None
                    calls.append((match[1], match[2], ours, network, writes))
                    self.paths.update(path for path in ours if not HEX.search(path.removeprefix(self.folders[0])))
        self.kinds = {False: defaultdict(set), True: defaultdict(set)}
        # The opens among them that write or make something: (named, number, kind of path).
        self.writing = set()
        self.halves = defaultdict(set)
        self.count = writes = 0
        foreign, main = set(), calls[0][0] if calls else None
        plain, named = defaultdict(int), defaultdict(int)
        for thread, call, ours, network, opens in calls:
            plain[thread, call] += 1
            number = plain[thread, call]
            if ours or network:
                self.count += 1
                self.kinds[False][call, number].add(kind_of(ours[0], self.folders[0]) if ours else "network")
                if opens and ours:
                    self.writing.add((False, number, kind_of(ours[0], self.folders[0])))
            elif thread == main:
                # The loader's: to break it tells nothing of us.
                foreign.add((call, number))
            if call in HALVES and ours:
                writes += 1
                self.halves[call, kind_of(ours[0], self.folders[0])].add(writes)
            if any(path in self.paths for path in ours):
                named[thread, call] += 1
                self.kinds[True][call, named[thread, call]].add(kind_of(ours[0], self.folders[0]))
                if opens:
                    self.writing.add((True, named[thread, call], kind_of(ours[0], self.folders[0])))
        for key in foreign:
            self.kinds[False].pop(key, None)

    def groups(self):
        """All points, by call, kind of path and fault."""
        found = defaultdict(list)
        for named, kinds in self.kinds.items():
            for (call, number), paths in kinds.items():
                for path in paths:
                    more = OPENS_TO_WRITE if call == "openat" and (named, number, path) in self.writing else ()
                    for fault in FAULTS.get(call, ()) + more + (LASTING.get(call, ()) if named else ()):
                        found[call, path, fault].append(Point(call, fault, number, named))
        for (call, path), numbers in self.halves.items():
            found[call, path, "half"] = [Point(call, "half", number) for number in sorted(numbers)]
        for size in FILE_SIZES:
            found["prlimit", "", "size"].append(Point("prlimit", "size", size))
        for number in DESCRIPTORS:
            found["prlimit", "", "files"].append(Point("prlimit", "files", number))
        return found
