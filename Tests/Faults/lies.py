"""What the judge must find: a run that went well, and one thing that is not so afterwards."""

import json
import shutil

from homes import EVENTS, PROJECTS, TRIP
from workflows import (ArchiveZip, Cleanup, Forget, Mirror, MoveStore, ProjectsDelete, ProjectsExport, ProjectsMigrate,
                       Rebuild, Restore, Share, Verify, Workflow, key_of)

ONE = key_of("orientation-3.jpg")


def halve(path):
    path.write_bytes(path.read_bytes()[:path.stat().st_size // 2])


def first(folder, pattern):
    return sorted(folder.rglob(pattern))[0]


def without(path, chosen):
    path.write_text(json.dumps([item for item in json.loads(path.read_text()) if item["id"] != chosen]))


def archived(home):
    return first_key(home, "gallery-archive/", ".jpg")


def first_key(home, begin, end):
    return sorted(key for key in home.objects() if key.startswith(begin) and key.endswith(end))[0]


# The workflow, what is not so, and how it comes. These are of the embedded store alone.
EMBEDDED = (
    (Workflow, "a record is gone", lambda home: (home.store / "records" / f"{ONE}~.json").unlink()),
    (ProjectsDelete, "its object is there", lambda home: (home.store / "objects/users/ana/projects/p1.jpg").touch()),
    (Forget, "its object is there", lambda home: (home.store / "objects" / ONE).touch()),
)
LIES = (
    (Workflow, "an object is gone", lambda home: home.lose(ONE)),
    (Workflow, "an object has other bytes", lambda home: home.rot(ONE)),
    (Workflow, "a photo is gone", lambda home: (home.pictures / "Gallery/one.jpg").unlink()),
    (Workflow, "a photo was cut", lambda home: halve(home.pictures / f"Vacations/{TRIP}/four.jpg")),
    (Workflow, "an event went without its photo in the archive", lambda home: without(home.folder / EVENTS, "ev-a")),
    (Workflow, "a young event is gone", lambda home: without(home.folder / EVENTS, "ev-d")),
    (Workflow, "the events are half", lambda home: halve(home.folder / EVENTS)),
    (Workflow, "a project is gone", lambda home: without(home.folder / PROJECTS, "p2")),
    (Restore, "a restored photo is half", lambda home: halve(home.out / "Gallery/one.jpg")),
    (Restore, "a restored photo is not there", lambda home: (home.out / "Gallery/one.jpg").unlink()),
    (Share, "a shared photo is gone", lambda home: home.lose(first_key(home, "shares/", "_1.jpg"))),
    (Share, "a shared photo has other bytes", lambda home: home.rot(first_key(home, "shares/", "_0.jpg"))),
    (Share, "the share is not there", lambda home: home.lose(first_key(home, "shares/", "vacation.json"))),
    (Mirror, "a mirrored photo is half", lambda home: halve(first(home.out, "*.jpg"))),
    (Cleanup, "an archived photo is gone", lambda home: home.lose(archived(home))),
    (Cleanup, "an archived photo has other bytes", lambda home: home.rot(archived(home))),
    (ProjectsDelete, "another image is gone", lambda home: (home.pictures / "Projects/p2.jpg").unlink()),
    (ProjectsMigrate, "an image is half", lambda home: halve(home.folder / "New/p1.jpg")),
    (ProjectsMigrate, "an image is nowhere", lambda home: (home.folder / "New/p2.jpg").unlink()),
    (ProjectsExport, "an image is half", lambda home: halve(first(home.out, "*.jpg"))),
    (Verify, "an object has rotted again", lambda home: home.rot(ONE)),
    (Forget, "another photo went with it", lambda home: home.lose(key_of("size-17x33.jpg"))),
    (MoveStore, "an object did not come along", lambda home: (home.folder / "new/objects" / ONE).unlink()),
    (MoveStore, "an object came along in part", lambda home: halve(home.folder / "new/objects" / ONE)),
    (Rebuild, "an object is gone", lambda home: home.lose(ONE)),
    (Rebuild, "nothing is known", lambda home: shutil.rmtree(home.folder / "state")),
    (ArchiveZip, "the archive is half", lambda home: halve(home.folder / "archive.zip")),
    (ArchiveZip, "the archive is not there", lambda home: (home.folder / "archive.zip").unlink()),
)
