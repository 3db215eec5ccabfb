"""What a trial has put into a store goes again, and nothing else."""

import shlex
import time
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import quote

from eyes import EyesFailed


class Cleaner:
    """Empties what lies below the trial's prefix, and deletes the bucket where the trial has made it."""

    def __init__(self, eyes, trial, seconds=600):
        self.eyes, self.trial, self.prefix = eyes, trial, trial["prefix"] + "/"
        self.end = time.monotonic() + seconds
        self.seen, self.left = [], []

    def there(self, prefix):
        """[(key, version)]; without versions where they may not be listed, or nobody knows of any."""
        try:
            return self.eyes.versions(prefix)
        except EyesFailed as error:
            if "versions cannot be listed" not in "".join(self.seen):
                self.seen.append(f"versions cannot be listed ({error}): the objects alone are looked at")
            return [(key, None) for key in self.eyes.listing(prefix)]

    def abort(self, upload):
        key, number = upload
        return self.eyes.ask("DELETE", key, f"uploadId={quote(number, safe='-_.~')}")

    def remove(self, item):
        return self.eyes.delete(*item)

    def clean(self, pause):
        """Whether nothing is left. `pause`: what was stopped in its midst may still arrive, and is waited for."""
        if not self.trial.get("made"):
            self.seen.append("nothing was sent")
            return True
        time.sleep(pause)
        if self.eyes.ask("HEAD").status == 404:
            self.seen.append("there is no bucket")
            return True
        removed, refused, quiet = 0, None, 0
        with ThreadPoolExecutor(max_workers=4) as pool:
            while quiet < 2:
                try:
                    uploads = self.eyes.uploads(self.prefix)
                except EyesFailed as error:
                    uploads = []
                    if not quiet:
                        self.seen.append(f"uploads in parts cannot be listed ({error})")
                list(pool.map(self.abort, uploads))
                there = self.there(self.prefix)
                answers = list(pool.map(self.remove, there))
                removed += sum(answer.status in (200, 204) for answer in answers) + len(uploads)
                refused = next((answer for answer in answers if answer.status not in (200, 204, 404)), None)
                if refused or time.monotonic() > self.end:
                    break
                quiet = 0 if there or uploads else quiet + 1
                if quiet == 1 and pause:
                    time.sleep(pause)
        rest = self.there(self.prefix)
        self.seen.append(f"{removed} objects, versions and uploads removed, {len(rest)} left")
        if rest:
            self.left.append(f"{len(rest)} objects below the trial's prefix{f' ({refused})' if refused else ''}: "
                             f"aws s3 rm --recursive {shlex.quote(f's3://{self.eyes.bucket}/{self.prefix}')}")
            return False
        return self.delete_bucket() if self.trial["creates"] else True

    def delete_bucket(self):
        foreign = self.there("")
        if foreign:
            self.left.append(f"the bucket, since it has {len(foreign)} objects that are not the trial's")
            return False
        for _ in range(5):
            answer = self.eyes.ask("DELETE")
            if answer.status in (200, 204, 404):
                # It may be told of for some moments.
                for _ in range(10):
                    if self.eyes.ask("HEAD").status == 404:
                        self.seen.append(f"bucket deleted: {answer.status}, then HEAD 404")
                        return True
                    time.sleep(1)
                break
            time.sleep(2)
        self.left.append(f"the bucket ({answer}): aws s3 rb {shlex.quote(f's3://{self.eyes.bucket}')}")
        return False

    def commands(self):
        """What takes away all that may be left, for whoever this script could not help."""
        place = shlex.quote(f"s3://{self.eyes.bucket}/{self.prefix}")
        yield f"aws s3 rm --recursive {place}"
        if self.trial["creates"]:
            yield f"aws s3 rb {shlex.quote(f's3://{self.eyes.bucket}')}"
