"""What a disk may hold after a power cut, from the file operations of one run.

The model is what POSIX promises and no more: bytes are on the disk after fsync(2) or fdatasync(2) of their file, names after
fsync(2) of their folder. All else may be there or not, in any order: a file may have its name and none of its bytes, or its
bytes and no name. A rename is there as a whole or not at all.
"""

import os
import re
import shutil
from dataclasses import dataclass, field
from pathlib import Path

CALLS = ("open,openat,creat,close,dup,dup2,dup3,fcntl,read,write,pwrite64,writev,pwritev,lseek,ftruncate,truncate,fallocate,"
         "copy_file_range,sendfile,rename,renameat,renameat2,link,linkat,unlink,unlinkat,rmdir,mkdir,mkdirat,symlink,symlinkat,"
         "fsync,fdatasync,sync,syncfs,sync_file_range,clone,clone3,fork,vfork")
# Those that change what has a name.
BY_NAME = ("open", "openat", "creat", "truncate", "rename", "renameat", "renameat2", "link", "linkat", "unlink", "unlinkat",
           "rmdir", "mkdir", "mkdirat", "symlink", "symlinkat")
# What tells the threads of the program from its workers, and changes no file.
STARTS = ("clone", "clone3", "fork", "vfork")
LINE = re.compile(r"^(\d+) +(.*)$")
CALL = re.compile(r"^(\w+)\((.*)\) += (-?\d+|\?)")
RESUMED = re.compile(r"^<\.\.\. (\w+) resumed>(.*)$")
TEXT = re.compile(r'"((?:\\x[0-9a-f]{2})*)"')
CURRENT = "AT_FDCWD"


def tracing(command, log):
    """The command line that runs `command` and notes what it does to files, with all bytes."""
    return ["strace", "-D", "-f", "-xx", "-s", str(1 << 26), "--seccomp-bpf", "-o", str(log), "-e", f"trace={CALLS}", *command]


@dataclass(frozen=True)
class Change:
    """One step: of the bytes of a file, or of the names in a folder."""

    number: int
    what: str
    # Of bytes: the file. Of names: where the name is made or taken.
    node: int
    offset: int = 0
    data: bytes = b""
    name: str = ""
    # What gets the name; of a rename, where it came from, and what has that name then (RENAME_EXCHANGE).
    child: int = 0
    source: tuple = ()
    other: int | None = None
    # Whether another program has made it, and the disk has it for sure.
    is_given: bool = False

    @property
    def is_name(self):
        return self.what in ("name", "unname", "rename")


@dataclass
class Node:
    kind: str
    mode: int = 0o644
    content: bytes = b""
    entries: dict = field(default_factory=dict)
    target: str = ""


# Of FileReplacement: inode, size and time of the file that was read, and of the one that takes its place.
HIDDEN = re.compile(r"\.sync-agent-([0-9a-f]+(?:-[0-9a-f]+){5})\.old")


class Unmodelled(Exception):
    """A call that this model has no answer to: better said than left out."""


class Recording:
    """The changes below a folder, as a trace tells them, and which of them a sync has made safe when."""

    def __init__(self, folder, before, log):
        """`before` is a copy of the folder, as it was when the run began."""
        self.folder = str(folder)
        self.nodes, self.changes, self.syncs = {}, [], []
        self.cached = (None, {})
        # As the running program sees it: names in folders, sizes of files, descriptors.
        self.live, self.sizes, self.descriptors = {}, {}, {}
        self.root = self._load(Path(before))
        threads = self._threads(log)
        for thread, started, call, words, result in self._calls(log):
            if thread in threads:
                self._take(started, call, words, result)
            else:
                self._leave_out(call, words)
        self.replaced = self._hidden_names()

    # The trace.

    def _threads(self, log):
        """The threads of the program itself: a worker has descriptors of its own, under the same numbers."""
        parents, first = {}, None
        for thread, _, call, words, result in self._calls(log):
            first = first or thread
            if call in STARTS and result:
                parents[str(result)] = thread if "CLONE_THREAD" in words else None

        def is_ours(thread):
            while thread in parents:
                thread = parents[thread]
            return thread == first

        return {thread for thread in (first, *parents) if is_ours(thread)}

    def _leave_out(self, call, words):
        """A worker makes and changes no file by its name here. Were one given to it as a descriptor, the replay would differ."""
        if call in STARTS or call in ("open", "openat") and not re.search("O_CREAT|O_TRUNC|O_WRONLY|O_RDWR", words):
            return
        for text in self._texts(words) if call in BY_NAME else ():
            if isinstance(self._path(CURRENT, text), str):
                raise Unmodelled(f"a worker changes a file: {call}({words[:200]})")

    def _calls(self, log):
        pending = {}
        with open(log, encoding="ascii", errors="replace") as file:
            for line in file:
                match = LINE.match(line)
                if not match:
                    continue
                thread, rest = match.groups()
                started = len(self.changes)
                if rest.endswith("<unfinished ...>"):
                    begun = rest.removesuffix("<unfinished ...>")
                    if closing := re.match(r"close\((\d+)", begun):
                        # Another thread may get the number before this call is told to be over.
                        yield thread, started, "close", closing[1], 0
                    else:
                        pending[thread] = (started, begun)
                    continue
                if resumed := RESUMED.match(rest):
                    if thread not in pending:
                        continue
                    started, begun = pending.pop(thread)
                    rest = begun + resumed[2].lstrip()
                if (found := CALL.match(rest)) and found[3] != "?" and int(found[3]) >= 0:
                    yield thread, started, found[1], found[2], int(found[3])

    @staticmethod
    def _texts(words):
        return [bytes.fromhex(text.replace("\\x", "")) for text in TEXT.findall(words)]

    def _take(self, started, call, words, result):
        texts = self._texts(words) if '"' in words else []
        plain = [word.strip() for word in TEXT.sub("@", words).split(",")]
        handler = getattr(self, f"on_{call}", None)
        if handler:
            handler(started, plain, texts, result)
        elif call not in ("sync_file_range", *STARTS):
            raise Unmodelled(f"{call}({words[:200]})")

    # Paths and descriptors.

    def _path(self, folder, text):
        path = os.fsdecode(text)
        if match := re.fullmatch(r"/proc/self/fd/(\d+)(/.*)?", path):
            if not match[2]:
                return ("descriptor", int(match[1]))
            base = (self.descriptors.get(int(match[1])) or {}).get("path")
            if not base:
                return None
            path = base + match[2]
        if not path.startswith("/"):
            if folder == CURRENT:
                return None
            base = self.descriptors.get(int(folder))
            if not base or not base.get("path"):
                return None
            path = base["path"] + "/" + path
        path = os.path.normpath(path)
        return path if path == self.folder or path.startswith(self.folder + "/") else None

    def _find(self, path):
        """The node of a path now; `None` when it is not there."""
        number = self.root
        for part in path.removeprefix(self.folder).strip("/").split("/"):
            if part:
                number = self.live.get(number, {}).get(part)
                if number is None:
                    return None
        return number

    def _parent(self, path):
        folder, name = os.path.split(path)
        parent = self._find(folder)
        if parent is None:
            raise Unmodelled(f"a name in a folder that is not known: {path}")
        return parent, name

    def _change(self, what, node, **more):
        self.changes.append(Change(len(self.changes), what, node, **more))

    def _make(self, kind):
        number = len(self.nodes)
        self.nodes[number] = Node(kind)
        self.sizes[number] = 0
        if kind == "folder":
            self.live[number] = {}
        return number

    def _load(self, path):
        number = self._make("link" if path.is_symlink() else "folder" if path.is_dir() else "file")
        node = self.nodes[number]
        node.mode = path.lstat().st_mode & 0o7777
        if node.kind == "link":
            node.target = os.readlink(path)
        elif node.kind == "folder":
            for child in sorted(path.iterdir()):
                node.entries[child.name] = self._load(child)
            self.live[number] = dict(node.entries)
        else:
            node.content = path.read_bytes()
            self.sizes[number] = len(node.content)
        return number

    # Calls.

    def _open_at(self, folder, text, flags, descriptor):
        path = self._path(folder, text)
        if isinstance(path, tuple):
            path = (self.descriptors.get(path[1]) or {}).get("path")
        if path is None:
            self.descriptors[descriptor] = {}
            return
        if "O_TMPFILE" in flags:
            number = self._make("file")
            path = None
        else:
            number = self._find(path)
            if number is None and "O_CREAT" in flags:
                parent, name = self._parent(path)
                number = self._make("file")
                self.live[parent][name] = number
                self._change("name", parent, name=name, child=number)
            elif number is None:
                number = self._come(path)
            elif "O_TRUNC" in flags and self.sizes[number]:
                self._change("size", number, offset=0)
                self.sizes[number] = 0
        self.descriptors[descriptor] = {"node": number, "path": path, "at": 0, "append": "O_APPEND" in flags}

    def _come(self, path):
        """A file that nobody here has made is another program's, as it is after the run: whole, and on the disk."""
        if not os.path.lexists(path):
            raise Unmodelled(f"a file that nobody has made, and that is gone: {path}")
        parent, name = self._parent(path)
        number = self.live[parent][name] = self._load(Path(path))
        self._change("name", parent, name=name, child=number, is_given=True)
        return number

    def on_openat(self, _, plain, texts, result):
        self._open_at(plain[0], texts[0], plain[2], result)

    def on_open(self, _, plain, texts, result):
        self._open_at(CURRENT, texts[0], plain[1], result)

    def on_creat(self, _, plain, texts, result):
        self._open_at(CURRENT, texts[0], "O_CREAT|O_TRUNC", result)

    def on_close(self, _, plain, __, ___):
        self.descriptors.pop(int(plain[0]), None)

    def on_dup(self, _, plain, __, result):
        self.descriptors[result] = self.descriptors.get(int(plain[0]), {})

    on_dup2 = on_dup3 = on_dup

    def on_fcntl(self, _, plain, __, result):
        if plain[1] in ("F_DUPFD", "F_DUPFD_CLOEXEC"):
            self.descriptors[result] = self.descriptors.get(int(plain[0]), {})

    def _file(self, word):
        file = self.descriptors.get(int(word)) or {}
        return file if file.get("node") is not None else None

    def _put(self, file, offset, data):
        if data:
            self._change("bytes", file["node"], offset=offset, data=data)
            self.sizes[file["node"]] = max(self.sizes[file["node"]], offset + len(data))

    def on_read(self, _, plain, __, result):
        if file := self._file(plain[0]):
            file["at"] += result

    def on_lseek(self, _, plain, __, result):
        if file := self._file(plain[0]):
            file["at"] = result

    def on_write(self, _, plain, texts, result):
        if file := self._file(plain[0]):
            if file["append"]:
                file["at"] = self.sizes[file["node"]]
            self._put(file, file["at"], b"".join(texts)[:result])
            file["at"] += result

    on_writev = on_write

    def on_pwrite64(self, _, plain, texts, result):
        if file := self._file(plain[0]):
            self._put(file, int(plain[-1]), b"".join(texts)[:result])

    on_pwritev = on_pwrite64

    def on_ftruncate(self, _, plain, __, ___):
        if file := self._file(plain[0]):
            self._change("size", file["node"], offset=int(plain[1]))
            self.sizes[file["node"]] = int(plain[1])

    def on_fallocate(self, _, plain, __, ___):
        file = self._file(plain[0])
        if file and "KEEP_SIZE" not in plain[1] and (end := int(plain[2]) + int(plain[3])) > self.sizes[file["node"]]:
            self._change("size", file["node"], offset=end)
            self.sizes[file["node"]] = end

    def _copy_between(self, plain, result):
        if self._file(plain[2] if len(plain) > 4 else plain[0]) and result:
            raise Unmodelled("bytes that the kernel copies: " + ", ".join(plain))

    def on_copy_file_range(self, _, plain, __, result):
        self._copy_between(plain, result)

    def on_sendfile(self, _, plain, __, result):
        self._copy_between(plain, result)

    def _rename_at(self, old_folder, old_text, new_folder, new_text, flags=""):
        old, new = self._path(old_folder, old_text), self._path(new_folder, new_text)
        if old is None and new is None:
            return
        if not isinstance(old, str) or not isinstance(new, str):
            raise Unmodelled(f"a rename across the border of {self.folder}")
        (source, name), (goal, new_name) = self._parent(old), self._parent(new)
        child, other = self.live[source].pop(name), None
        if "EXCHANGE" in flags:
            other = self.live[source][name] = self.live[goal][new_name]
        self.live[goal][new_name] = child
        self._change("rename", goal, name=new_name, child=child, source=(source, name), other=other)
        for file in self.descriptors.values():
            if file.get("path") and (file["path"] == old or file["path"].startswith(old + "/")):
                file["path"] = new + file["path"][len(old):]

    def on_rename(self, _, plain, texts, __):
        self._rename_at(CURRENT, texts[0], CURRENT, texts[1])

    def on_renameat(self, _, plain, texts, __):
        self._rename_at(plain[0], texts[0], plain[2], texts[1], "".join(plain[4:]))

    on_renameat2 = on_renameat

    def _link_at(self, old_folder, old_text, new_folder, new_text):
        old, new = self._path(old_folder, old_text), self._path(new_folder, new_text)
        if not isinstance(new, str):
            return
        child = self.descriptors[old[1]]["node"] if isinstance(old, tuple) else self._find(old)
        parent, name = self._parent(new)
        self.live[parent][name] = child
        self._change("name", parent, name=name, child=child)

    def on_link(self, _, plain, texts, __):
        self._link_at(CURRENT, texts[0], CURRENT, texts[1])

    def on_linkat(self, _, plain, texts, __):
        if texts[0] == b"":
            texts[0] = b"/proc/self/fd/" + plain[0].encode()
        self._link_at(plain[0], texts[0], plain[2], texts[1])

    def _remove_at(self, folder, text):
        path = self._path(folder, text)
        if isinstance(path, str):
            parent, name = self._parent(path)
            self.live[parent].pop(name, None)
            self._change("unname", parent, name=name)

    def on_unlink(self, _, plain, texts, __):
        self._remove_at(CURRENT, texts[0])

    on_rmdir = on_unlink

    def on_unlinkat(self, _, plain, texts, __):
        self._remove_at(plain[0], texts[0])

    def _mkdir_at(self, folder, text, kind="folder", target=""):
        path = self._path(folder, text)
        if isinstance(path, str):
            parent, name = self._parent(path)
            number = self._make(kind)
            self.nodes[number].mode, self.nodes[number].target = 0o700, target
            self.live[parent][name] = number
            self._change("name", parent, name=name, child=number)

    def on_mkdir(self, _, plain, texts, __):
        self._mkdir_at(CURRENT, texts[0])

    def on_mkdirat(self, _, plain, texts, __):
        self._mkdir_at(plain[0], texts[0])

    def on_symlink(self, _, plain, texts, __):
        self._mkdir_at(CURRENT, texts[1], "link", os.fsdecode(texts[0]))

    def on_symlinkat(self, _, plain, texts, __):
        self._mkdir_at(plain[1], texts[1], "link", os.fsdecode(texts[0]))

    def on_fsync(self, started, plain, _, __):
        # What had been done when it began; it counts from the moment when it is over.
        if file := self._file(plain[0]):
            self.syncs.append((len(self.changes), file["node"], started))

    on_fdatasync = on_fsync

    def on_sync(self, started, *_):
        self.syncs.append((len(self.changes), None, started))

    def on_syncfs(self, started, *_):
        self.on_sync(started)

    # States.

    def moments(self):
        """Numbers of changes after which a cut may come: all that a state can differ at."""
        return range(len(self.changes) + 1)

    def _is_safe(self, change, moment):
        """Whether a sync before the cut has it: for a name, one of the folder that it is in; for a rename, of either."""
        safe = self._safe_until(moment)
        return change.is_given or any(change.number < safe.get(place, -1) for place in (change.node, None, *change.source[:1]))

    def _safe_until(self, moment):
        """{node, or None for all: the number of the first change that no sync has had by then}"""
        if self.cached[0] != moment:
            found = {}
            for at, node, started in self.syncs:
                if at <= moment:
                    found[node] = max(found.get(node, -1), started)
            self.cached = (moment, found)
        return self.cached[1]

    def state(self, moment, has):
        """The changes that are on the disk after a cut at a moment, where `has` decides of each that no sync had."""
        return [change for change in self.changes[:moment] if self._is_safe(change, moment) or has(change)]

    def write(self, changes, goal):
        """Makes the folder as it is with these changes."""
        contents = {number: bytearray(node.content) for number, node in self.nodes.items() if node.kind == "file"}
        folders = {number: dict(node.entries) for number, node in self.nodes.items() if node.kind == "folder"}
        for change in changes:
            if change.what == "bytes":
                content = contents[change.node]
                content.extend(bytes(max(0, change.offset - len(content))))
                content[change.offset:change.offset + len(change.data)] = change.data
            elif change.what == "size":
                content = contents[change.node]
                del content[change.offset:]
                content.extend(bytes(change.offset - len(content)))
            elif change.what == "name":
                folders[change.node][change.name] = change.child
            elif change.what == "unname":
                folders[change.node].pop(change.name, None)
            else:
                source, name = change.source
                if folders[source].get(name) == change.child:
                    del folders[source][name]
                if change.other is not None:
                    folders[source][name] = change.other
                # Where the old name was never on the disk, the file is there under the new one.
                folders[change.node][change.name] = change.child
        shutil.rmtree(goal, ignore_errors=True)
        made = {}
        self._write(self.root, Path(goal), contents, folders, made)
        self._keep_stamps(Path(goal), made)

    def _hidden_names(self):
        """{hidden name beside a file that is replaced: the file that was read, and the one that takes its place}"""
        found = {}
        for change in self.changes:
            if change.what != "rename":
                continue
            if HIDDEN.fullmatch(change.name):
                files = found.setdefault(change.name, [None, None])
                files[0 if change.name.endswith("-0-0-0.old") else 1] = change.child
            elif HIDDEN.fullmatch(change.source[1]) and change.other is not None:
                found.setdefault(change.source[1], [None, None])[0] = change.other
        return found

    def _keep_stamps(self, folder, made):
        """After a power cut the inodes and times are there that such a name tells of; what is made here has others."""
        for path in list(folder.rglob(".sync-agent-*.old")):
            words = HIDDEN.fullmatch(path.name)[1].split("-")
            for number, at in zip(self.replaced.get(path.name, ()), (0, 3)):
                if number in made:
                    modified = int(words[at + 2], 16)
                    os.utime(made[number], ns=(modified, modified))
                    words[at] = f"{made[number].stat().st_ino:x}"
            path.rename(path.with_name(f".sync-agent-{'-'.join(words)}.old"))

    def _write(self, number, path, contents, folders, made):
        node = self.nodes[number]
        if node.kind == "link":
            os.symlink(node.target, path)
        elif node.kind == "folder":
            path.mkdir()
            for name, child in folders[number].items():
                # It has no meaning to another process.
                if not name.endswith("-shm"):
                    self._write(child, path / name, contents, folders, made)
            path.chmod(node.mode)
        elif number in made:
            os.link(made[number], path)
        else:
            path.write_bytes(contents[number])
            path.chmod(node.mode)
            made[number] = path
