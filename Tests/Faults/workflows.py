"""The workflows that are broken, and what must hold of each: after the fault, and after a second run without one."""

import hashlib
import json
import shutil
import signal
import zipfile
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

from homes import (FIXTURES, LATER, OLD_EVENTS, PHOTOS, TRIP, YOUNG_EVENTS, Broken, Home, files_below,
                   objects_below, sha256, wait_until)


def key_of(fixture):
    """A photo of the pool is stored under the MD5 of its bytes."""
    return f"users/ana/photos/{hashlib.md5((FIXTURES / fixture).read_bytes()).hexdigest()}.dat"


POOL = {key_of(fixture) for name, fixture in PHOTOS.items() if not name.startswith("Projects/")}
OLD_PHOTOS = {key_of(photo) for photo, _ in OLD_EVENTS.values() if photo}
EVENT_PHOTOS = OLD_PHOTOS | {key_of(photo) for photo, _ in YOUNG_EVENTS.values() if photo}
PROJECT_OBJECTS = {f"users/ana/projects/{name}" for name in ("p1.jpg", "p2.jpg", "p1-metadata.json", "projects.json")}


def is_changing(key):
    """What is another one each time: it has ids and times in it."""
    return key.startswith("shares/") or "/vacations/" in key


class Workflow:
    """`sync`, and what the others have in common. `good` is {key: SHA-256} as a run without a fault stores it."""

    name = "sync"
    more = ""
    # Whether the projects are left as they are.
    touches_projects = False
    # The folders below the home whose files are whole or not there, other than the pictures.
    outputs = ()
    # Whether a second run finds out by itself whatever a power cut has left, so that no missing sync can break it.
    reads_all_again = False
    # Whether it has to do with a store at all.
    asks_store = True
    # What it ends with when nothing goes wrong.
    code = 0

    def __init__(self):
        self.good = {}
        self.originals = {}
        self.expected = {}

    def home(self, slot, binary, kind=Home):
        return kind(slot, binary, self.more)

    def prepare(self, home):
        """What is done before the trials."""

    def words(self, home):
        return ["sync"]

    def drive(self, home, process, patience):
        """What is done while it runs; whether it was told to stop and may end by that signal."""
        return False

    def settle(self, home):
        """What a run without a fault leaves to be done, before `learn`."""

    def learn(self, home):
        """Remembers what a run without a fault has left, as the measure of all others."""
        self.good = {key: digest for key, digest in home.objects().items() if not is_changing(key)}
        self.originals = {name: sha256(FIXTURES / fixture) for name, fixture in PHOTOS.items()}
        self.expected = {folder: files_below(home.folder / folder) for folder in self.outputs}

    def mend(self, home):
        """The second run."""
        home.ask(*self.words(home), accept=(self.code,))

    # What must hold.

    def judge(self, home, code, final=False):
        """Raises Broken for a promise that does not hold after a run that ended with `code`."""
        self.judge_pictures(home)
        self.judge_claims(home)
        self.judge_events(home)
        if not self.touches_projects:
            if home.projects() != {"p1", "p2"}:
                raise Broken("projects.json lost a project")
        self.judge_outputs(home)
        self.judge_more(home)
        if code == 0 or final:
            try:
                self.done(home)
            except Broken as error:
                raise Broken(f"{'after the second run' if final else 'it ends with 0'}, and {error}") from error

    def photos(self, home):
        """The photos that nobody may touch."""
        return {name: digest for name, digest in self.originals.items()
                if not (self.touches_projects and name.startswith("Projects/"))}

    def judge_pictures(self, home):
        for name, digest in self.photos(home).items():
            path = home.pictures / name
            if not path.exists():
                raise Broken(f"the photo {name} is gone")
            if sha256(path) != digest:
                raise Broken(f"the photo {name} is another one")

    def judge_claims(self, home):
        there = home.objects()
        for path, (state, key) in home.claims().items():
            if state != "uploaded":
                continue
            if path in PHOTOS and not path.startswith("Projects/") and key != key_of(PHOTOS[path]):
                raise Broken(f"{path} is called stored under {key}, which is not its MD5")
            for key in EVENT_PHOTOS if path == "Gallery/events.json" and self.texts_of(home) == "all" else {key}:
                self.judge_object(home, there, key, f"{path} is called stored")

    def texts_of(self, home):
        return "all" if len(home.texts()) == len(OLD_EVENTS) + len(YOUNG_EVENTS) else "some"

    def judge_object(self, home, there, key, why):
        if key not in there:
            raise Broken(f"{why}, and {key} is not in the store")
        if key in self.good and there[key] != self.good[key]:
            raise Broken(f"{why}, and {key} has other bytes in the store")

    def judge_events(self, home):
        left, there = home.texts(), home.objects()
        for photo, words in YOUNG_EVENTS.values():
            if words not in left:
                raise Broken(f"the text {words} of a young event is gone")
        for name, (photo, words) in OLD_EVENTS.items():
            if words not in left and photo:
                keys = [key for key in there if key.startswith("gallery-archive/") and key.endswith(f"/{name}.jpg")]
                if not keys:
                    raise Broken(f"the text {words} is gone, and its photo is not in the archive")
                self.judge_object(home, there, keys[0], f"the text {words} is gone")

    def judge_outputs(self, home):
        for folder in self.outputs:
            for name, digest in (files_below(home.folder / folder) if (home.folder / folder).exists() else {}).items():
                if Path(name).name.startswith("."):
                    continue
                if self.expected[folder].get(name) != digest:
                    raise Broken(f"{folder}/{name} is not whole, or nobody asked for it")

    def judge_more(self, home):
        """What else must hold at any time."""

    def done(self, home):
        """What must hold when all is said to be done."""
        there = home.objects()
        for path, (state, _) in home.claims().items():
            if state != "uploaded":
                raise Broken(f"{path} is {state}")
        for key in self.good:
            self.judge_object(home, there, key, "all is done")

    def outputs_done(self, home):
        for folder in self.outputs:
            there = files_below(home.folder / folder) if (home.folder / folder).exists() else {}
            for name in self.expected[folder]:
                if name not in there and not Path(name).name.startswith("."):
                    raise Broken(f"{folder}/{name} is not there")


class OfOriginals:
    """Where the way to JPEG XL is broken, an original is stored as the file that it is."""

    more = "photos: {max_dimension: 100, keep_originals: jxl}\n"

    def judge_object(self, home, there, key, why):
        if "/originals/" not in key or there.get(key) not in self.originals.values():
            super().judge_object(home, there, key, why)


class Originals(OfOriginals, Workflow):
    """Photos beyond the limit are kept as they are, too."""

    name = "originals"
    # Those of the photos that are larger than that.
    kept = ("Gallery/one.jpg", f"Vacations/{TRIP}/four.jpg")

    def judge_more(self, home):
        there = home.objects()
        for key in self.claimed(home).values():
            self.judge_object(home, there, key, "an original is called kept")

    @staticmethod
    def claimed(home):
        """{path below Pictures: key} of the originals that are called kept."""
        return {name: file["original"]["key"] for name, file in home.status().items() if file["original"]}

    def done(self, home):
        super().done(home)
        if missing := set(self.kept) - set(self.claimed(home)):
            raise Broken(f"the originals of {', '.join(sorted(missing))} are not kept")


class Run(Workflow):
    """The agent, from its start to SIGTERM; a photo comes while it watches."""

    name = "run"

    def words(self, home):
        return ["run"]

    def drive(self, home, process, patience):
        wanted = POOL | PROJECT_OBJECTS
        said = home.slot / "stderr"
        # Before it watches, SIGTERM would end it by that signal: whoever has patience gets more of it, for a busy machine.
        watches = wait_until(lambda: process.poll() is not None or "watching" in said.read_text(errors="replace"),
                             max(60, 3 * patience))
        if watches:
            name, fixture = LATER
            shutil.copyfile(FIXTURES / fixture, home.folder / "coming.jpg")
            (home.folder / "coming.jpg").rename(home.pictures / name)
            wanted = wanted | {key_of(fixture)}
            wait_until(lambda: process.poll() is not None or home.has(wanted), patience)
            # The last outcome is on its way to the ledger, and the cleanup of the day to its end.
            left = len(YOUNG_EVENTS)
            wait_until(lambda: process.poll() is not None or len(home.texts_or_none()) == left, patience / 4)
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
        return not watches

    def settle(self, home):
        self.mend(home)

    def learn(self, home):
        super().learn(home)
        # The cleanup, which begins with the agent, may have archived the old ones before the pool has them.
        self.good = {key: digest for key, digest in self.good.items() if key not in OLD_PHOTOS}

    def mend(self, home):
        name, fixture = LATER
        if not (home.pictures / name).exists():
            shutil.copyfile(FIXTURES / fixture, home.pictures / name)
        home.ask("sync")
        home.ask("cleanup")

    def judge(self, home, code, final=False):
        # It ends with 0 when it is told to, whatever is left to do.
        super().judge(home, None if code == 0 else code, final)


class Restore(Workflow):
    """Archived photos, brought back into a folder."""

    name = "restore"
    more = "tiers: {archive_after_days: 0, minimum_archive_bytes: 0}\n"
    outputs = ("out",)

    def prepare(self, home):
        home.ask("sync")
        home.freeze()

    def words(self, home):
        folders = [home.pictures / "Gallery", home.pictures / "Vacations"]
        return ["restore", "--yes", "--wait", "--output", home.out, *folders]

    def drive(self, home, process, patience):
        # What could not be saved is tried again after a quarter of an hour, for which `--wait` waits.
        if wait_until(lambda: process.poll() is not None, 3 * patience):
            return False
        process.send_signal(signal.SIGTERM)
        return True

    def mend(self, home):
        # `--wait` looks again after `restore.poll_minutes` only.
        words = [word for word in self.words(home) if word != "--wait"]
        home.ask(*words, accept=(0, 3))

        def is_saved():
            home.ask("restores", "--refresh", accept=(0, 3))
            try:
                self.outputs_done(home)
            except Broken:
                return False
            return True

        wait_until(is_saved, 90)

    def done(self, home):
        self.outputs_done(home)


class RestoreOriginals(OfOriginals, Restore):
    """The files themselves, of which the store has smaller copies and JPEG XL."""

    name = "restore-original"
    more = Restore.more + OfOriginals.more

    def words(self, home):
        # Of photos in files of events no original is kept, which would be told.
        photos = [home.pictures / name for name in PHOTOS if not name.startswith("Projects/")]
        return ["restore", "--yes", "--wait", "--original", "--output", home.out, *photos]

    def learn(self, home):
        super().learn(home)
        back = set(self.expected["out"].values())
        if missing := {sha256(home.pictures / name) for name in Originals.kept} - back:
            raise Broken(f"{len(missing)} originals did not come back as they were")


class Share(Workflow):
    name = "share"
    more = "share: {public_base_url: 'http://127.0.0.1:9'}\n"

    def prepare(self, home):
        home.ask("sync")

    def words(self, home):
        return ["share", TRIP, "--yes", "--json"]

    @staticmethod
    def manifests(shared):
        """{id: text} of the shares that can be seen."""
        return {key.split("/")[1]: data for key, data in shared.items() if key.endswith("/vacation.json")}

    def judge_more(self, home):
        shared = home.shared()
        for share, data in self.manifests(shared).items():
            try:
                manifest = json.loads(data)
            except ValueError as error:
                raise Broken(f"a manifest of a share is no JSON: {error}") from error
            self.judge_manifest(shared, share, manifest)

    @staticmethod
    def judge_manifest(shared, share, manifest):
        for photo in manifest["photos"]:
            data = shared.get(f"shares/{share}/{share}_{photo['orderIndex']}.jpg")
            if data is None:
                raise Broken(f"a share can be seen, and its photo {photo['orderIndex']} is not there")
            if hashlib.sha256(data).hexdigest() != photo["sha256"]:
                raise Broken(f"a share can be seen, and its photo {photo['orderIndex']} has other bytes")
        if f"shares/{share}/index.html" not in shared:
            raise Broken("a share can be seen, and has no page")

    def done(self, home):
        manifests = self.manifests(home.shared())
        if len(manifests) != 1:
            raise Broken(f"{len(manifests)} shares can be seen")
        (share, data), = manifests.items()
        if len(json.loads(data)["photos"]) != 2:
            raise Broken("the share has not both photos")
        live = [row["shareId"] for row in json.loads(home.ask("shares", "--json"))["shares"] if row["state"] == "live"]
        if live != [share]:
            raise Broken(f"the ledger has {len(live)} live shares, and the store another one")


class Revoke(Share):
    """A share is taken back: its files are what a web server hands out."""

    name = "revoke"

    def prepare(self, home):
        super().prepare(home)
        home.ask("share", TRIP, "--yes")
        share, = self.manifests(home.shared())
        home.share = share

    def words(self, home):
        return ["shares", "--revoke", home.share, "--yes"]

    def mend(self, home):
        # Of one that is revoked it says so.
        home.ask(*self.words(home), accept=(0, 66))

    def judge_more(self, home):
        states = [share["state"] for share in json.loads(home.ask("shares", "--json"))["shares"]]
        left = home.shared()
        if states == ["revoked"] and left:
            raise Broken(f"the share is called revoked, and {len(left)} files of it are there")

    def done(self, home):
        if left := home.shared():
            raise Broken(f"{len(left)} files of the share are there")


class Mirror(Workflow):
    """A share from a web server on the loopback interface."""

    name = "mirror"
    asks_store = False
    outputs = ("out",)

    def __init__(self, source=None):
        super().__init__()
        self.server = self.link = None
        self.source = source

    def home(self, slot, binary, kind=Home):
        if self.server is None:
            self.serve(Path(slot).parent / "shared", binary)
        return super().home(slot, binary, kind)

    def serve(self, slot, binary):
        class Quiet(SimpleHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

        folder = Path(slot) / "home/store/objects"
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder)))
        self.server.daemon_threads = True
        # A client that is killed in the middle is what is tried here.
        self.server.handle_error = lambda *_: None
        Thread(target=self.server.serve_forever, daemon=True).start()
        home = Home(slot, binary, f"share: {{public_base_url: 'http://127.0.0.1:{self.server.server_port}'}}\n")
        home.grow()
        home.ask("sync")
        self.link = json.loads(home.ask("share", TRIP, "--yes", "--json"))["link"]

    def words(self, home):
        return ["mirror", self.link, home.out]

    def judge_claims(self, home):
        """It has nothing to do with a store."""

    def done(self, home):
        self.outputs_done(home)


class Cleanup(Workflow):
    name = "cleanup"

    def prepare(self, home):
        home.ask("sync")

    def words(self, home):
        return ["cleanup"]

    def done(self, home):
        left = home.texts()
        for _, words in OLD_EVENTS.values():
            if words in left:
                raise Broken(f"the text {words} is still there")


class ProjectsDelete(Workflow):
    name = "projects-delete"
    touches_projects = True

    def prepare(self, home):
        home.ask("sync")

    def words(self, home):
        return ["projects", "delete", "p1", "--yes"]

    def mend(self, home):
        # 66: it was all gone before.
        home.ask(*self.words(home), accept=(0, 66))

    def learn(self, home):
        super().learn(home)
        # The list is stored anew by the next sync.
        self.good.pop("users/ana/projects/projects.json", None)

    def judge_more(self, home):
        if "p2" not in home.projects():
            raise Broken("p2 is gone from projects.json")
        path = home.pictures / "Projects/p2.jpg"
        if not path.exists() or sha256(path) != self.originals["Projects/p2.jpg"]:
            raise Broken("the image of p2 is gone, or another one")
        there = home.objects()
        self.judge_object(home, there, "users/ana/projects/p2.jpg", "p2 was not deleted")
        path = home.pictures / "Projects/p1.jpg"
        if path.exists() and sha256(path) != self.originals["Projects/p1.jpg"]:
            raise Broken("the image of p1 is another one")

    def done(self, home):
        names = ("p1.jpg", "p1-metadata.json")
        left = [name for name in names if (home.pictures / "Projects" / name).exists()]
        left += [trace for name in names for trace in home.traces(f"users/ana/projects/{name}")]
        if left or "p1" in home.projects():
            raise Broken(f"of p1 there is still {', '.join(left) or 'its record'}")


class ProjectsMigrate(Workflow):
    name = "projects-migrate"
    asks_store = False
    touches_projects = True

    def prepare(self, home):
        home.ask("sync")

    def words(self, home):
        return ["projects", "migrate", home.pictures / "Projects", home.folder / "New"]

    def learn(self, home):
        super().learn(home)
        self.expected = {"New": files_below(home.folder / "New")}

    def mend(self, home):
        # 66: the old folder was gone before.
        home.ask(*self.words(home), accept=(0, 66))

    def judge_claims(self, home):
        """The new folder is not in the configuration yet."""

    def judge_more(self, home):
        old, new = (files_below(folder) if folder.exists() else {} for folder in
                    (home.pictures / "Projects", home.folder / "New"))
        for name, digest in self.expected["New"].items():
            if name in new and new[name] != digest:
                raise Broken(f"New/{name} is not whole")
            if old.get(name) != digest and new.get(name) != digest:
                raise Broken(f"{name} is whole in neither folder")

    def done(self, home):
        new = files_below(home.folder / "New") if (home.folder / "New").exists() else {}
        if missing := [name for name in self.expected["New"] if name not in new]:
            raise Broken(f"{missing[0]} is not in the new folder")
        if (home.pictures / "Projects").exists() and any((home.pictures / "Projects").iterdir()):
            raise Broken("the old folder is still there")


class ProjectsExport(Workflow):
    name = "projects-export"
    asks_store = False
    outputs = ("out",)

    def prepare(self, home):
        home.ask("sync")

    def words(self, home):
        return ["projects", "export", home.out]

    def done(self, home):
        self.outputs_done(home)


class Verify(Workflow):
    """One object has rotted, one is gone; both are stored again from their files. Of a third only the store has it."""

    name = "verify"
    reads_all_again = True
    rotten, missing, alone = "Gallery/one.jpg", f"Vacations/{TRIP}/three.jpg", "Gallery/two.jpg"
    # Something was damaged.
    code = 3

    def prepare(self, home):
        home.ask("sync")
        home.rot(key_of(PHOTOS[self.rotten]))
        home.lose(key_of(PHOTOS[self.missing]))
        (home.pictures / self.alone).unlink()

    def words(self, home):
        return ["verify", "--all"]

    def learn(self, home):
        super().learn(home)
        del self.originals[self.alone]

    def judge_claims(self, home):
        # That the two are called stored before anybody has looked at them is what `verify` is for.
        there = home.objects()
        for path, (state, key) in home.claims().items():
            if state == "lost":
                raise Broken(f"{path} is called lost")
            if state in ("uploaded", "missing") and path not in (self.rotten, self.missing):
                self.judge_object(home, there, key, f"{path} is called stored")

    def mend(self, home):
        # What could not be sent has a pause before its next try; `verify` respects it, `sync` does not.
        home.ask(*self.words(home), accept=(0, 3))
        home.ask("sync")
        home.ask(*self.words(home))

    def done(self, home):
        there = home.objects()
        for key in self.good:
            self.judge_object(home, there, key, "all is said to be right")


class ArchiveZip(Workflow):
    name = "archive-zip"

    def prepare(self, home):
        home.ask("sync")
        home.ask("cleanup")

    def words(self, home):
        return ["archive", "download", "--zip", home.folder / "archive.zip"]

    def mend(self, home):
        # One with some of the photos, of which it has told, has to go first.
        (home.folder / "archive.zip").unlink(missing_ok=True)
        super().mend(home)

    def judge_more(self, home):
        path = home.folder / "archive.zip"
        if not path.exists():
            return
        archived = sorted(digest for key, digest in home.objects().items() if key.startswith("gallery-archive/"))
        try:
            with zipfile.ZipFile(path) as file:
                inside = sorted(hashlib.sha256(file.read(name)).hexdigest() for name in file.namelist())
        except (zipfile.BadZipFile, EOFError) as error:
            raise Broken(f"the ZIP file is not whole: {error}") from error
        if not set(inside) <= set(archived):
            raise Broken("the ZIP file has other photos than the archive")
        self.inside = len(inside)

    def done(self, home):
        if not (home.folder / "archive.zip").exists():
            raise Broken("there is no ZIP file")
        if self.inside != 2:
            raise Broken(f"the ZIP file has {self.inside} photos of 2")


class Forget(Workflow):
    """A photo of which only the store has a copy goes for good, and nothing else does."""

    name = "forget"
    gone = "Gallery/one.jpg"

    def prepare(self, home):
        home.ask("sync")
        (home.pictures / self.gone).unlink()
        home.ask("sync")

    def words(self, home):
        return ["forget", home.pictures / self.gone, "--yes"]

    def mend(self, home):
        # 66: it was all gone before, or what was left to do is done by a pass.
        home.ask(*self.words(home), accept=(0, 66))
        home.ask("sync")

    def learn(self, home):
        super().learn(home)
        del self.originals[self.gone]

    def judge_more(self, home):
        if (claim := home.claims().get(self.gone)) and claim[0] not in ("missing", "lost"):
            raise Broken(f"{self.gone} is {claim[0]}")

    def done(self, home):
        super().done(home)
        if left := home.traces(key_of(PHOTOS[self.gone])):
            raise Broken(f"of a forgotten photo there is still {', '.join(left)}")


class ForgetOriginal(OfOriginals, Forget):
    """Its original goes with it, also where nobody has noted that it is there."""

    name = "forget-original"

    def done(self, home):
        super().done(home)
        if left := home.traces(key_of(PHOTOS[self.gone]).replace("/photos/", "/originals/")):
            raise Broken(f"of the original of a forgotten photo there is still {', '.join(left)}")


class MoveStore(Workflow):
    """All goes into another folder, and then the configuration names that one."""

    name = "move-store"

    def home(self, slot, binary, kind=Home):
        class Moving(kind):
            @property
            def is_moved(self):
                return "path: ~/new" in (self.folder / "config.yaml").read_text()

            def objects(self):
                return objects_below(self.folder / "new") if self.is_moved else super().objects()

        return super().home(slot, binary, Moving)

    def prepare(self, home):
        home.ask("sync")

    def learn(self, home):
        super().learn(home)
        # It has the ids of stores in it.
        del self.good["users/ana/store-origin.json"]

    def words(self, home):
        return ["move-store", home.folder / "new", "--yes"]

    def mend(self, home):
        # 64: the configuration names it already.
        home.ask(*self.words(home), accept=(0, 64))
        home.ask("sync")

    def done(self, home):
        super().done(home)
        if not home.is_moved:
            raise Broken("the configuration names the old store")


class Rebuild(Workflow):
    """The state folder is gone, the pictures are there."""

    name = "rebuild"
    reads_all_again = True

    def prepare(self, home):
        home.ask("sync")
        shutil.rmtree(home.folder / "state")

    def words(self, home):
        return ["rebuild"]

    def mend(self, home):
        super().mend(home)
        home.ask("sync")

    def judge_claims(self, home):
        super().judge_claims(home)
        there = home.objects()
        for path, (state, key) in home.claims().items():
            if state == "missing":
                self.judge_object(home, there, key, f"{path} is called stored")

    def done(self, home):
        claims = home.claims()
        for name in PHOTOS:
            # What is on the disk is matched by the next pass.
            if claims.get(name, ("unknown", None))[0] not in ("missing", "uploaded"):
                raise Broken(f"{name} is {claims.get(name, ('unknown', None))[0]}")


ALL = (Workflow, Originals, Run, Restore, RestoreOriginals, Share, Revoke, Mirror, Cleanup, ProjectsDelete, ProjectsMigrate, ProjectsExport, Verify,
       ArchiveZip, Forget, ForgetOriginal, MoveStore, Rebuild)
