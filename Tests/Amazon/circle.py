"""The whole circle of the program, step by step, each judged by requests of our own."""

import base64
import hashlib
import html
import json
import os
import re
import secrets
import shutil
import signal
import subprocess
import time
import xml.etree.ElementTree as ElementTree
from datetime import datetime, timedelta, timezone
from pathlib import Path

from eyes import EyesFailed, NoCredentials, content_md5, plain

ROOT = Path(__file__).resolve().parent.parent.parent
FIXTURES = ROOT / "Tests/Disk/PhotoFixtures"
TRIP = "Paris_France_2024-06-15_2024-06-22"
WORDS = "what nobody but the family should read"
LARGE = 65 << 20
RESTORE = (b'<RestoreRequest xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Days>3</Days><GlacierJobParameters>'
           b"<Tier>Standard</Tier></GlacierJobParameters></RestoreRequest>")
# Names that an address has to be made of with care. "short" takes the first three.
NAMES = ("Grüße aus Köln.jpg", "🌻 Sonne + Regen.jpg", "100% & mehr #1?.jpg", "plain.jpg", "grau = gray; ~'.jpg",
         "日本 été.jpg", "drawing (1).png")
DRAWN = ("IMG_0001.jpg", "IMG_0002.jpg", "IMG_0003.jpg", "IMG_0004.jpg", "IMG_0005_gray.jpg", "IMG_0006_progressive.jpg",
         "drawing.png")


# In their order: what each is called in the report.
STEPS = {
    "bucket": "The bucket",
    "doctor": "doctor",
    "upload": "Photos are stored, under all kinds of names",
    "again": "A second pass sends nothing",
    "refusals": "The store refuses what is wrong",
    "large": "A film of 65 MiB goes up in parts",
    "class": "A photo in STANDARD_IA, with a tag",
    "rules": "Lifecycle rules",
    "event": "An old event is archived, its text deleted",
    "archive": "A photo moves to DEEP_ARCHIVE in place",
    "restore": "It is asked back",
    "share": "A vacation is shared",
    "mirror": "Its link is mirrored without credentials",
    "revoke": "The share is revoked",
    "forget": "A photo is forgotten for good",
    "rebuild": "A new machine is rebuilt from the store",
    "verify": "All is read back and compared",
    "fetch": "A photo that is not archived comes back",
}
# What each needs, where that is more than the bucket.
NEEDS = {
    "bucket": (), "restore": ("archive",), "mirror": ("share",), "revoke": ("share",),
    **dict.fromkeys(("again", "event", "share", "forget", "rebuild", "verify", "fetch"), ("upload",))}


class Stopped(BaseException):
    """A signal asks for the end."""


class Signals:
    """Raises `Stopped` once. While a program is being started it waits, so that none is left that nobody knows of."""

    def __init__(self):
        self.holds, self.number, self.is_over = False, None, False

    def watch(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, self.come)

    def come(self, number, _):
        if self.is_over:
            say("\nthe clean-up goes on; it ends within ten minutes")
        elif self.holds:
            self.number = number
        else:
            self.is_over = True
            raise Stopped(number)

    def start(self, *words, **options):
        self.holds = True
        try:
            return subprocess.Popen(*words, **options)
        finally:
            self.holds = False

    def check(self):
        if self.number and not self.is_over:
            self.is_over = True
            raise Stopped(self.number)


class Wrong(Exception):
    """A step cannot go on; its text says why."""


def say(text, end="\n"):
    """A terminal that is gone is no reason to leave something behind."""
    try:
        print(text, end=end, flush=True)
    except OSError:
        pass


def draw(folder, drawn=None):
    """Draws the photos of the trial, or takes those that are: how many bytes they have."""
    if drawn:
        shutil.copytree(drawn, folder)
        return size_of(folder)
    done = subprocess.run([ROOT / "examples/draw-sample-photos", folder], capture_output=True, text=True)
    if done.returncode:
        raise Wrong(done.stderr.strip() or "the photos cannot be drawn")
    return size_of(folder)


def size_of(folder):
    return sum(path.stat().st_size for path in Path(folder).rglob("*") if path.is_file())


def told(*lists):
    """What answers name as failed, in words."""
    words = [str(item.get("message") or item.get("reason") or item.get("error") or item) if isinstance(item, dict) else str(item)
             for items in lists for item in items]
    return "; ".join(dict.fromkeys(words)) or "and it names nothing"


class Home:
    """A configuration, pictures and a state of their own, below the trial's folder."""

    def __init__(self, folder, user, state="state"):
        self.folder, self.user, self.state = Path(folder), user, state
        self.pictures, self.config = self.folder / "Pictures", self.folder / "config.yaml"

    def write(self, store, more=""):
        """A configuration; JSON is YAML."""
        for kind in ("Gallery", "Vacations", "Projects"):
            (self.pictures / kind).mkdir(parents=True, exist_ok=True)
        watch = "".join(f"  - {{kind: {kind.lower()}, path: {json.dumps(str(self.pictures / kind))}}}\n"
                        for kind in ("Gallery", "Vacations", "Projects"))
        self.config.write_text(f"user: {json.dumps(self.user)}\nstore: {json.dumps(store)}\nwatch:\n{watch}"
                               f"upload: {{settle_seconds: 0}}\n{more}", encoding="utf-8")
        self.config.chmod(0o600)


class Row:
    """What came of a step."""

    def __init__(self, title):
        self.title, self.state, self.seconds, self.seen, self.wrong, self.unsupported = title, "ok", 0.0, [], [], []


class Circle:
    """`trial` is what is kept in the folder of the trial, so that another process can go on: bucket, prefix, rows, …"""

    def __init__(self, folder, trial, options, eyes, redact, keep):
        self.signals = Signals()
        self.folder, self.trial, self.options, self.eyes, self.redact = Path(folder), trial, options, eyes, redact
        self.keep_trial, self.rows, self.row, self.checks = keep, [], None, []
        self.prefix, self.is_amazon = trial["prefix"], not trial["endpoint"]
        user = trial["user"]
        self.home = Home(self.folder / "one", user)
        self.warm, self.cold = Home(self.folder / "warm", f"{user}-ia"), Home(self.folder / "cold", f"{user}-cold")
        self.large = Home(self.folder / "large", f"{user}-large")
        self.stored, self.share_id, self.links, self.done = {}, None, [], set(trial.get("done", ()))

    # What a step says.

    def saw(self, *words):
        self.row.seen.extend(self.redact(text) for text in words)

    def expect(self, is_so, words):
        """Whether it is so; else the step has failed, and goes on."""
        if not is_so:
            self.row.wrong.append(self.redact(words))
        return is_so

    def at_amazon(self, is_so, words):
        """The same; where it is another server, it is only told."""
        if not is_so:
            (self.row.wrong if self.is_amazon else self.row.unsupported).append(self.redact(words))
        return is_so

    def step(self, name, title, work, needs=()):
        """Whether it is done. What it needs and is missing leaves it out; what it raises is told, and others go on."""
        self.row = row = Row(title)
        self.rows.append(row)
        say(f"{title} …", end=" ")
        missing = [need for need in needs if need not in self.done]
        began = time.monotonic()
        try:
            if missing:
                row.state = "left out"
                row.seen.append(f"needs what came to nothing: {', '.join(missing)}")
                return False
            work()
        except (Wrong, EyesFailed, NoCredentials) as error:
            row.wrong.append(self.redact(error))
        except Exception as error:
            # An answer of another shape, or a fault of this script: the other steps, and the clean-up, come all the same.
            row.wrong.append(self.redact(f"{type(error).__name__}: {error}"))
        except Stopped:
            row.state = "stopped"
            raise
        finally:
            row.seconds = time.monotonic() - began
            if row.state == "ok":
                row.state = "FAILED" if row.wrong else "not supported here" if row.unsupported else "ok"
            say(f"{row.state}, {row.seconds:.1f} s")
            for words in row.wrong + row.unsupported:
                say(f"    {words}")
        if not row.wrong:
            self.done.add(name)
        return not row.wrong

    # The program.

    def environment(self, home, signs=True):
        variables = {name: value for name, value in os.environ.items() if not name.startswith("SYNC_AGENT_")}
        variables.update(XDG_STATE_HOME=str(home.folder / home.state), XDG_CONFIG_HOME=str(home.folder / "settings"), TZ="UTC",
                         XDG_CACHE_HOME=str(home.folder / "cache"), XDG_DATA_HOME=str(home.folder / "data"), LC_ALL="C.UTF-8")
        if signs:
            return {**variables, "SYNC_AGENT_CONFIG": str(home.config)}
        kept = {name: value for name, value in variables.items() if not name.startswith("AWS_") or name == "AWS_CA_BUNDLE"}
        return {**kept, "HOME": str(home.folder), "AWS_EC2_METADATA_DISABLED": "true"}

    def run(self, home, *words, accept=(0,), signs=True, seconds=600):
        """Standard output of a command, with --json what it says."""
        words = [str(word) for word in words]
        # A session of its own: a Ctrl-C is for this script, which ends the program itself.
        child = self.signals.start([self.options.binary, *words], env=self.environment(home, signs), stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace",
                                   start_new_session=True, cwd=self.folder)
        try:
            self.signals.check()
            out, err = child.communicate(timeout=seconds)
        except subprocess.TimeoutExpired as error:
            raise Wrong(f"`{words[0]}` does not end in {seconds} s") from error
        finally:
            # Also when a signal asks for the end: nothing of ours goes on sending.
            if child.poll() is None:
                try:
                    child.terminate()
                    child.communicate(timeout=15)
                except subprocess.TimeoutExpired:
                    pass
                finally:
                    if child.poll() is None:
                        child.kill()
                        child.communicate()
        if child.returncode not in accept:
            # Half a secret has no form by which it is found.
            said = self.redact(" ".join((err or out).split()))
            raise Wrong(f"`sync-agent {words[0]}` ends with {child.returncode}: {'…' if said[400:] else ''}{said[-400:]}")
        if "--json" not in words:
            return out
        try:
            return json.loads(out)
        except ValueError as error:
            raise Wrong(f"`sync-agent {words[0]} --json` prints no JSON: {self.redact(out)[:200]!r}") from error

    def key(self, key):
        return f"{self.prefix}/{key}"

    def head(self, key, accept=(200,)):
        return self.eyes.ask("HEAD", self.key(key), accept=accept)

    def store(self, **more):
        trial = self.trial
        found = {"type": "s3", "bucket": trial["bucket"], "prefix": self.prefix, "region": trial["region"], **more}
        if trial["endpoint"]:
            found["endpoint"] = trial["endpoint"]
        if trial["profile"]:
            found["profile"] = trial["profile"]
        return found

    # The steps.

    def walk(self):
        for name, title in STEPS.items():
            if name == "large" and self.options.short:
                continue
            if not self.step(name, title, getattr(self, f"do_{name}"), NEEDS.get(name, ("bucket",))) and name == "bucket":
                return
            self.remember()

    def remember(self):
        self.trial["done"] = sorted(self.done)
        self.keep_trial()

    def do_bucket(self):
        answer = self.eyes.find_region()
        self.saw(f"HEAD {answer.status}", f"region {self.eyes.region}")
        if self.trial["region"] != self.eyes.region:
            self.saw(f"the program is told {self.trial['region']}")
        if answer.status == 403 and self.trial["creates"]:
            raise Wrong("HEAD 403: the credentials are wrong, or may do nothing with buckets")
        if self.trial["creates"]:
            if answer.status != 404:
                raise Wrong(f"a bucket of a random name answers with {answer}: it is left alone")
            self.trial["made"] = "asked"
            self.keep_trial()
            self.init("--create-bucket")
            self.trial["made"] = "made"
            self.keep_trial()
            self.saw(f"HEAD {self.eyes.find_region().status} after init --create-bucket")
            answer = self.eyes.ask("GET", query="publicAccessBlock=")
            shut = answer.body.lower().count(b">true<") if answer.status == 200 else 0
            # The fourth is about setting ACLs that nobody heeds: elsewhere it is not asked for.
            self.at_amazon(shut == 4 or shut == 3 and not self.is_amazon,
                           f"public access is not blocked: {answer}, {shut} of 4")
            self.saw(f"public access blocked {shut} of 4 ways")
            return
        # 403 as well where a policy lets them list the trial's prefix alone.
        if answer.status not in (200, 403):
            raise Wrong(f"HEAD {answer.status}: there is no such bucket")
        there = self.eyes.ask("GET", query=f"list-type=2&max-keys=1&prefix={self.prefix}%2F", accept=(200, 403))
        if there.status == 403:
            raise Wrong(f"HEAD {answer.status}, listing {there}: the credentials are wrong, or may not list the trial's prefix")
        if b"<Key>" in there.body:
            raise Wrong("there is something below the random prefix already")
        self.trial["made"] = "below"
        self.keep_trial()
        self.init()

    def init(self, *more):
        trial = self.trial
        words = ["init", "--store", "s3", "--bucket", trial["bucket"], "--prefix", self.prefix, "--region", trial["region"],
                 "--root", self.home.pictures, "--user", self.home.user, *more]
        if trial["endpoint"]:
            words += ["--endpoint", trial["endpoint"]]
        if trial["profile"]:
            words += ["--aws-profile", trial["profile"]]
        self.home.folder.mkdir(parents=True, exist_ok=True)
        self.run(self.home, *words)

    def do_doctor(self):
        plain_text = self.run(self.home, "doctor", accept=(0, 1, 69, 77, 78))
        answer = self.run(self.home, "doctor", *(["--archive"] if self.is_amazon else []), "--json", accept=(0, 1, 69, 77, 78))
        self.checks = [(check["name"], check["state"], self.redact(check["detail"] or ""), self.redact(check["remedy"] or ""))
                       for check in answer["checks"]]
        self.trial["checks"] = self.checks
        states = [state for _, state, _, _ in self.checks]
        self.saw(", ".join(f"{states.count(state)} {state}" for state in ("ok", "limited", "wrong")))
        self.expect(plain_text.strip() != "", "without --json it says nothing")
        for name, state, detail, _ in self.checks:
            self.expect(state != "wrong", f"{name}: {detail}")

    def do_upload(self):
        count = 3 if self.options.short else len(NAMES)
        card, gallery = self.folder / "card", self.home.pictures / "Gallery"
        for name, source in list(zip(NAMES, DRAWN))[:count]:
            shutil.copyfile(card / "Gallery" / source, gallery / name)
        shutil.copytree(card / "Vacations" / TRIP, self.home.pictures / "Vacations" / TRIP)
        now = datetime.now(timezone.utc)
        events = [{"id": name, "userId": "trial", "profileId": "grandpa", "eventType": "taskResponse", "text": WORDS,
                   "createdAt": (now - timedelta(days=days)).strftime("%Y-%m-%dT%H:%M:%SZ"),
                   "photoData": base64.b64encode((FIXTURES / photo).read_bytes()).decode()}
                  for name, days, photo in (("old", 120, "camera-canon.jpg"), ("young", 2, "camera-nikon.jpg"))]
        (gallery / "events.json").write_text(json.dumps(events))
        answer = self.run(self.home, "sync", "--json", accept=(0, 3))
        self.saw(f"{answer['uploaded']} stored, {answer['failed']} failed, {answer['bytesSent']:,} bytes sent")
        self.expect(not answer["failed"] and not answer["pending"] and not answer["delayed"],
                    told(answer["failures"], answer["delayed"], answer["problems"]))
        whole, heads = 0, set()
        for row in self.run(self.home, "status", self.home.pictures, "--json")["files"]:
            if not row["key"]:
                continue
            body = self.eyes.ask("GET", self.key(row["key"]), headers={"x-amz-checksum-mode": "ENABLED"}, accept=(200,))
            digest = hashlib.sha256(body.body).hexdigest()
            self.stored[row["path"]] = (row["key"], digest)
            name = Path(row["path"]).name
            self.expect(body.headers.get("x-amz-meta-sha256") == digest, f"SHA-256 of {name}")
            kept = body.headers.get("x-amz-checksum-sha256")
            right = base64.b64encode(bytes.fromhex(digest)).decode()
            self.at_amazon(kept == right, f"x-amz-checksum-sha256 is {'wrong' if kept else 'not told'}")
            heads.update(f"{header}: {body.headers[header]}" for header in ("x-amz-server-side-encryption", "x-amz-storage-class")
                         if header in body.headers)
            whole += 1
        self.row.unsupported[:] = sorted(set(self.row.unsupported))
        self.expect(whole >= count + 4, f"{whole} objects are told, at least {count + 4} were to be")
        self.saw(f"GET 200 of {whole} objects, SHA-256 equal", *sorted(heads))

    def do_again(self):
        answer = self.run(self.home, "sync", "--json")
        self.saw(f"{answer['uploaded']} stored, {answer['bytesSent']} bytes sent")
        self.expect(answer["uploaded"] == 0 and answer["bytesSent"] == 0, "it sends something again")

    def do_refusals(self):
        body, key = b"a word", self.key("judge/word")
        first = self.eyes.ask("PUT", key, body=body, headers={"if-none-match": "*"})
        self.expect(first.status == 200, f"If-None-Match where nothing is: {first}")
        other = base64.b64encode(hashlib.sha256(b"other").digest()).decode()
        for what, wanted, headers, lie in (
                ("If-None-Match where something is", 412, {"if-none-match": "*"}, None),
                ("a wrong Content-MD5", 400, {"content-md5": content_md5(b"other")}, None),
                ("a wrong x-amz-checksum-sha256", 400, {"x-amz-checksum-sha256": other}, None),
                ("a wrong x-amz-content-sha256", 400, {}, "digest"),
                ("a wrong secret", 403, {}, "secret"),
                ("a clock an hour late", 403, {}, "clock"),
                ("a class that is none", 400, {"x-amz-storage-class": "CELLAR"}, None)):
            answer = self.eyes.ask("PUT", key, body=body, headers=headers, lie=lie)
            if self.at_amazon(answer.status == wanted, f"{what} is answered with {answer}, not {wanted}"):
                self.saw(f"{what}: {answer}")

    def do_large(self):
        dice = secrets.token_bytes(1 << 20)
        self.large.write(self.store(part_size=5 << 20))
        path = self.large.pictures / "Gallery" / "film.mp4"
        with open(path, "wb") as file:
            file.write((FIXTURES / "films/portrait.mp4").read_bytes())
            # A box that players skip.
            file.write((8 + LARGE).to_bytes(4, "big") + b"free")
            for number in range(LARGE >> 20):
                file.write(bytes([number]) + dice[1:])
        answer = self.run(self.large, "sync", "--json", accept=(0, 3), seconds=3600)
        self.expect(answer["uploaded"] == 1, told(answer["failures"], answer["delayed"], answer["problems"]))
        row = self.run(self.large, "status", path, "--json")["files"][0]
        head = self.head(row["key"])
        etag = head.headers.get("etag", "").strip('"')
        self.saw(f"HEAD 200, {int(head.headers['content-length']):,} bytes, ETag of {etag.rpartition('-')[2]} parts")
        self.expect(int(head.headers["content-length"]) == row["bytesStored"], "another length than was sent")
        self.at_amazon(re.search(r"-1[34]$", etag), f"the ETag tells of no 13 or 14 parts: {etag.rpartition('-')[1:]}")
        end = self.eyes.ask("GET", self.key(row["key"]), headers={"range": "bytes=-1024"}, accept=(206, 200)).body[-1024:]
        with open(path, "rb") as file:
            file.seek(-1024, os.SEEK_END)
            self.expect(file.read() == end, "its end is another one")
        left = self.eyes.uploads(f"{self.prefix}/")
        self.expect(not left, f"{len(left)} uploads in parts were not ended")
        path.unlink()

    def do_class(self):
        word = self.prefix.rpartition("-")[2]
        self.warm.write(self.store(storage_class="STANDARD_IA", tags={"trial": word}))
        row = self.one_photo(self.warm)
        head = self.head(row["key"])
        self.saw(f"x-amz-storage-class: {head.headers.get('x-amz-storage-class', 'not told')}")
        self.at_amazon(head.headers.get("x-amz-storage-class") == "STANDARD_IA", "it is in another class")
        tags = self.eyes.ask("GET", self.key(row["key"]), query="tagging=")
        if tags.status == 403:
            self.saw("GET ?tagging 403: these credentials may not look")
            return
        found = {node.findtext("Key"): node.findtext("Value") for node in plain(ElementTree.fromstring(tags.body)).iter("Tag")}
        self.saw(f"GET ?tagging {tags.status}, x-amz-tagging-count: {head.headers.get('x-amz-tagging-count', 'not told')}")
        self.at_amazon(found == {"trial": word}, f"the tags are {found}")

    def one_photo(self, home):
        """The row of the one photo of a home, stored."""
        shutil.copyfile(self.folder / "card/Gallery/IMG_0001.jpg", home.pictures / "Gallery" / "one.jpg")
        answer = self.run(home, "sync", "--json", accept=(0, 3))
        if answer["uploaded"] != 1:
            raise Wrong(f"it is not stored: {told(answer['failures'], answer['delayed'], answer['problems'])}")
        return self.run(home, "status", home.pictures / "Gallery/one.jpg", "--json")["files"][0]

    def do_rules(self):
        if not self.trial["creates"]:
            try:
                answer = self.run(self.home, "lifecycle", "show", "--json")
            except Wrong as refusal:
                if "ends with 77" not in str(refusal):
                    raise
                self.saw("these credentials may not look at the rules of the bucket")
                return
            self.saw("the rules of a bucket that is not the trial's are only looked at", f"{answer['foreign']} foreign")
            return
        self.run(self.home, "lifecycle", "apply", "--yes", "--json")
        answer = self.eyes.ask("GET", query="lifecycle=", accept=(200,))
        found = {}
        for rule in plain(ElementTree.fromstring(answer.body)).iter("Rule"):
            prefix = next((node.text or "" for node in rule.iter("Prefix")), "")
            size = next((node.text for node in rule.iter("ObjectSizeGreaterThan")), None)
            found[rule.findtext("ID")] = (prefix, next((node.text for node in rule.iter("StorageClass")), None), size)
        shown = self.run(self.home, "lifecycle", "show", "--json")["rules"]
        states = sorted({rule["state"] for rule in shown})
        self.saw(f"GET ?lifecycle 200, {len(found)} rules, "
                 f"{answer.headers.get('x-amz-transition-default-minimum-object-size', 'no least size told')}",
                 f"lifecycle show: {', '.join(states)}")
        self.at_amazon(states == ["active"], f"the rules are {', '.join(states)}")
        self.expect(len(found) == len(shown), f"{len(found)} rules are in the bucket, {len(shown)} are told")
        self.expect(all(prefix.startswith(f"{self.prefix}/") for prefix, _, _ in found.values()), "a rule is about other keys")
        photos = [value for name, value in found.items() if "photos" in name]
        self.expect([storage for _, storage, _ in photos] == ["DEEP_ARCHIVE"], "photos do not move to DEEP_ARCHIVE")
        self.at_amazon(all(size for _, _, size in photos), "the limit of size is not in the rule")

    def do_event(self):
        answer = self.run(self.home, "cleanup", "--json", accept=(0, 3))
        self.saw(f"{answer['archived']} archived, {answer['deleted']} deleted")
        self.expect((answer["archived"], answer["deleted"], answer["failed"]) == (1, 1, 0), told(answer["errors"]))
        text = (self.home.pictures / "Gallery/events.json").read_text()
        self.expect(text.count(WORDS) == 1, f"{text.count(WORDS)} texts are left, and not that of the young event alone")
        photos = self.run(self.home, "archive", "list", "--json")["photos"]
        self.expect(len(photos) == 1, f"archive list tells {len(photos)}")
        head = self.head(photos[0]["key"])
        self.saw(f"HEAD {head.status} below gallery-archive/")

    def do_archive(self):
        self.cold.write(self.store(), "tiers: {mode: agent, archive_after_days: 36500}\n")
        row = self.one_photo(self.cold)
        body = self.eyes.ask("GET", self.key(row["key"]), accept=(200,)).body
        self.trial["cold"] = {"key": row["key"], "sha256": hashlib.sha256(body).hexdigest()}
        self.cold.write(self.store(), "tiers: {mode: agent, archive_after_days: 0}\n")
        answer = self.run(self.cold, "sync", "--json", accept=(0, 3))
        row = self.run(self.cold, "status", self.cold.pictures / "Gallery/one.jpg", "--json")["files"][0]
        head = self.head(row["key"])
        self.saw(f"{row['bytesStored']:,} bytes", f"x-amz-storage-class: {head.headers.get('x-amz-storage-class')}")
        self.expect(head.headers.get("x-amz-storage-class") == "DEEP_ARCHIVE",
                    f"it is in {head.headers.get('x-amz-storage-class')} ({row['staysBecause']}: {told(answer['problems'])})")
        get = self.eyes.ask("GET", self.key(row["key"]))
        self.saw(f"GET {get}")
        self.at_amazon(get.status == 403 and get.code == "InvalidObjectState", f"reading it is answered with {get}")

    def do_restore(self):
        path, key = self.cold.pictures / "Gallery/one.jpg", self.trial["cold"]["key"]
        estimate = self.run(self.cold, "restore", "--estimate", "--json", path)
        costs = {tier["tier"]: tier["costUSD"] for tier in estimate["tiers"]}
        self.saw("estimate: " + ", ".join(f"{tier} ${cost:.4f}" for tier, cost in costs.items()))
        self.expect(max(costs.values()) < 0.01, "the estimate is more than a cent")
        answer = self.run(self.cold, "restore", path, "--tier", "standard", "--days", "3", "--max-cost", "0.05", "--yes",
                          "--json", accept=(0, 1, 3))
        states = [item["state"] for item in answer["items"] + answer["skipped"]]
        if not self.at_amazon(states in (["retrieving"], ["restored"]),
                              f"the program tells {', '.join(states)}: {told(answer['items'], answer['skipped'])}"):
            return
        self.trial["asked"] = datetime.now(timezone.utc).isoformat(timespec="seconds")
        head = self.head(key)
        stage = head.headers.get("x-amz-restore", "")
        self.saw(f"the program tells {states[0]}", f"x-amz-restore: {stage}")
        self.at_amazon('ongoing-request="true"' in stage, "no restore is under way")
        repeated = self.eyes.ask("POST", self.key(key), query="restore=", body=RESTORE,
                                 headers={"content-md5": content_md5(RESTORE)})
        self.saw(f"asked again by hand: {repeated}")
        self.at_amazon(repeated.status == 409, f"a restore that is under way and asked for again is answered with {repeated}")
        jobs = self.run(self.cold, "restores", "--refresh", "--json", accept=(0, 3))["restores"]
        self.saw(f"restores: {jobs[0]['state']}")
        self.expect(jobs[0]["state"] in ("retrieving", "ready"), f"the job is {jobs[0]['state']}")

    def is_back(self):
        """Whether the store says that the photo is readable again."""
        return 'ongoing-request="false"' in self.head(self.trial["cold"]["key"]).headers.get("x-amz-restore", "")

    def bring_back(self):
        """The photo, readable again, comes back to the disk."""
        stage = self.head(self.trial["cold"]["key"]).headers.get("x-amz-restore")
        self.saw(f"asked {self.trial['asked']}", f"now {datetime.now(timezone.utc).isoformat(timespec='seconds')}",
                 f"x-amz-restore: {stage}")
        jobs = self.run(self.cold, "restores", "--refresh", "--json", accept=(0, 3))["restores"]
        self.expect(jobs[0]["state"] == "ready", f"the job is {jobs[0]['state']}")
        place = self.folder / "back"
        shutil.rmtree(place, ignore_errors=True)
        self.run(self.cold, "restore", self.cold.pictures / "Gallery/one.jpg", "--output", place, "--yes", "--json")
        digests = [hashlib.sha256(path.read_bytes()).hexdigest() for path in place.rglob("*") if path.is_file()]
        self.expect(digests == [self.trial["cold"]["sha256"]], f"{len(digests)} files, or other bytes than were archived")
        self.saw("the bytes that were archived")

    def do_share(self):
        answer = self.run(self.home, "share", TRIP, "--from", "Trial", "--yes", "--json")
        self.share_id = answer["shareId"]
        self.redact.learn(self.share_id, "<share>")
        self.expect(answer["state"] == "live", f"it is {answer['state']}")
        page = self.eyes.fetch(answer["link"])
        self.saw(f"{answer['photoCount']} photos", f"the link: {answer['linkLimit'] or 'as long as the share'}",
                 f"page {page.status} {page.headers.get('content-type')}")
        self.links = [("page", answer["link"])]
        self.expect(page.status == 200, f"the page is answered with {page}")
        found = re.findall(r'https?://[^"\'\s<>]+', html.unescape(page.body.decode("utf-8", "replace")))
        for what, mark in (("manifest", "/vacation.json"), ("photo", f"{self.share_id}_0.jpg"),
                           ("thumbnail", "/thumbnails/0.jpg")):
            link = next((link for link in found if mark in link), None)
            if self.expect(link, f"the page has no link of a {what}"):
                self.links.append((what, link))
                answer = self.eyes.fetch(link)
                self.saw(f"{what} {answer.status} {answer.headers.get('content-type')}")
                self.expect(answer.status == 200 and len(answer.body) > 100, f"the {what} is answered with {answer}")
        bare = self.eyes.fetch(self.links[0][1].partition("?")[0])
        self.saw(f"without its signature {bare}")
        self.at_amazon(bare.status == 403, f"the page opens without its signature: {bare}")

    def do_mirror(self):
        goal = self.folder / "mirror"
        friend = Home(self.folder / "friend", "friend")
        friend.folder.mkdir(exist_ok=True)
        answer = self.run(friend, "mirror", self.links[0][1], goal, "--json", signs=False)
        photos = {hashlib.sha256(path.read_bytes()).hexdigest() for path in goal.glob("*.jpg")}
        self.saw(f"{answer['downloaded']} of {answer['photoCount']} photos")
        self.expect(answer["downloaded"] == answer["photoCount"] == 4 and not answer["failed"],
                    told(answer["errors"]))
        listed = self.eyes.listing(f"{self.prefix}/shares/{self.share_id}/{self.share_id}_")
        stored = {hashlib.sha256(self.eyes.ask("GET", key, accept=(200,)).body).hexdigest() for key in listed}
        self.expect(stored == photos, "other bytes than are stored")

    def do_revoke(self):
        answer = self.run(self.home, "shares", "--revoke", self.share_id, "--yes", "--json")
        self.expect(answer["shares"][0]["state"] == "revoked", f"it is {answer['shares'][0]['state']}")
        for what, link in self.links:
            answer = self.eyes.fetch(link)
            self.saw(f"{what} {answer}")
            self.expect(answer.status in (403, 404), f"the {what} is still answered with {answer}")
        left = self.eyes.listing(f"{self.prefix}/shares/")
        self.expect(not left, f"{len(left)} objects of it are left")

    def do_rebuild(self):
        before = self.run(self.home, "status", "--json", accept=(0, 3))["totals"]
        self.home.state = "state-of-a-new-machine"
        answer = self.run(self.home, "rebuild", "--json")
        self.saw(f"{answer['photos']} photos, {answer['fromCatalog']} by the catalogue, {answer['lost']} lost, "
                 f"{answer['requests']} requests")
        self.expect(not answer["lost"] and not answer["problems"], f"{answer['lost']} lost: {told(answer['problems'])}")
        sync = self.run(self.home, "sync", "--json")
        after = self.run(self.home, "status", "--json", accept=(0, 3))["totals"]
        self.saw(f"a pass after it sends {sync['bytesSent']} bytes")
        self.expect(sync["bytesSent"] == 0 and sync["uploaded"] == 0, "it sends photos again")
        self.expect(after["uploaded"] == before["uploaded"], f"{after['uploaded']} of {before['uploaded']} photos are known")

    def do_verify(self):
        answer = self.run(self.home, "verify", "--all", "--json", accept=(0, 3))
        self.saw(f"{answer['ok']} of {answer['checked']} whole, {answer['bytes']:,} bytes")
        self.expect(answer["ok"] == answer["checked"] > 0 and not answer["undecided"],
                    told(answer["damaged"], answer["missing"], answer["errors"]))

    def do_fetch(self):
        path = self.home.pictures / "Gallery" / NAMES[0]
        goal = self.folder / "fetched"
        self.run(self.home, "restore", path, "--output", goal, "--yes", "--json")
        digests = [hashlib.sha256(found.read_bytes()).hexdigest() for found in goal.rglob("*") if found.is_file()]
        self.expect(digests == [self.stored[str(path)][1]], f"{len(digests)} files, or other bytes than are stored")
        self.saw("the bytes that are stored")

    def do_forget(self):
        path = self.home.pictures / "Gallery" / NAMES[1]
        path.unlink()
        self.run(self.home, "sync", "--json", accept=(0, 3))
        answer = self.run(self.home, "forget", path, "--yes", "--json")
        key = self.stored[str(path)][0]
        head = self.head(key, accept=(200, 404, 403))
        self.saw(f"{len(answer['deleted'])} deleted", f"HEAD {head.status}")
        self.expect(head.status == 404, f"it is still answered with {head.status}")
