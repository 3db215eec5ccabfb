"""What a store holds and answers, seen past the program: requests of our own, signed by our own code, with what Python has."""

import base64
import configparser
import hashlib
import hmac
import json
import os
import shlex
import shutil
import ssl
import subprocess
import time
import urllib.error
import urllib.request
import xml.etree.ElementTree as ElementTree
from datetime import datetime, timedelta, timezone
from email.utils import parsedate_to_datetime
from http.client import HTTPException
from pathlib import Path
from urllib.parse import quote, urlsplit

EMPTY = hashlib.sha256(b"").hexdigest()
RETRIED = (500, 502, 503, 504)
NEVER = "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_SECURITY_TOKEN"


class EyesFailed(Exception):
    """The store, or the way to it, does not let us look."""


class NoCredentials(Exception):
    """There are none that this script can take; its text says what to do."""


def profile_settings(profile):
    """What the shared files say of a profile, the credentials' file first."""
    found = {}
    for variable, default, section in (
            ("AWS_CONFIG_FILE", "~/.aws/config", "default" if profile == "default" else f"profile {profile}"),
            ("AWS_SHARED_CREDENTIALS_FILE", "~/.aws/credentials", profile)):
        parser = configparser.RawConfigParser(default_section="", strict=False)
        try:
            parser.read(Path(os.environ.get(variable) or default).expanduser(), encoding="utf-8")
        except (configparser.Error, UnicodeError, OSError):
            continue
        if parser.has_section(section):
            found.update(parser.items(section))
    return found


class Credentials:
    """Those that the program takes, too: of an explicit profile, of the environment, of a profile, of whatever `aws` finds."""

    def __init__(self, profile):
        self.profile, self.taken_at, self.value = profile, None, None

    def get(self):
        """(key id, secret, token or None). Temporary ones are taken anew each ten minutes."""
        if self.taken_at is None or time.monotonic() - self.taken_at > 600:
            self.value, self.taken_at = self.found(), time.monotonic()
        return self.value

    def found(self):
        environment = os.environ
        if not self.profile and environment.get("AWS_ACCESS_KEY_ID") and environment.get("AWS_SECRET_ACCESS_KEY"):
            return (environment["AWS_ACCESS_KEY_ID"], environment["AWS_SECRET_ACCESS_KEY"],
                    environment.get("AWS_SESSION_TOKEN") or environment.get("AWS_SECURITY_TOKEN"))
        name = self.profile or environment.get("AWS_PROFILE") or "default"
        settings = profile_settings(name)
        others = {"role_arn", "sso_session", "sso_start_url"} & set(settings)
        if settings.get("aws_access_key_id") and not others:
            return settings["aws_access_key_id"], settings.get("aws_secret_access_key"), settings.get("aws_session_token")
        if settings.get("credential_process") and not others:
            return self.asked(shlex.split(settings["credential_process"]))
        if not shutil.which("aws"):
            raise NoCredentials(f"profile {name} has no keys, and there are none in the environment. Those of a role, of single "
                                "sign-on or of this machine are taken from `aws configure export-credentials`: install the aws "
                                "command (2.9 or newer), or set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY")
        return self.asked(["aws", "configure", "export-credentials", "--format", "process", *(["--profile", name]
                          if self.profile or environment.get("AWS_PROFILE") else [])])

    def asked(self, command):
        variables = {name: value for name, value in os.environ.items() if not (self.profile and name in NEVER)}
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL, env=variables)
            answer = json.loads(done.stdout)
            return answer["AccessKeyId"], answer["SecretAccessKey"], answer.get("SessionToken")
        except (OSError, subprocess.SubprocessError, ValueError, KeyError, TypeError):
            # Neither what it printed nor its words: both may have a secret.
            raise NoCredentials(f"`{Path(command[0]).name}` gives no credentials; is there one to sign in with (aws sso login), "
                                "or a key (aws configure)?") from None


def region_of(given, profile):
    """As the program finds it; None where nobody tells."""
    name = profile or os.environ.get("AWS_PROFILE") or "default"
    return given or os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION") or profile_settings(name).get("region")


def signature(secret, region, now, method, path, query, headers, digest):
    """Of version 4. `path` and `query` as they are sent, `headers` with lower-case names."""
    names = ";".join(sorted(headers))
    lines = [method, path, "&".join(sorted(query.split("&"))) if query else "",
             *(f"{name}:{' '.join(headers[name].split())}" for name in sorted(headers)), "", names, digest]
    scope = f"{now[:8]}/{region}/s3/aws4_request"
    text = f"AWS4-HMAC-SHA256\n{now}\n{scope}\n{hashlib.sha256(chr(10).join(lines).encode()).hexdigest()}"
    key = f"AWS4{secret}".encode()
    for part in scope.split("/"):
        key = hmac.digest(key, part.encode(), "sha256")
    return names, scope, hmac.digest(key, text.encode(), "sha256").hex()


class Answer:
    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body

    @property
    def code(self):
        """The store's word for what is wrong; a HEAD has none."""
        try:
            tree = ElementTree.fromstring(self.body)
        except ElementTree.ParseError:
            return None
        return plain(tree).findtext("Code") if tree.tag.endswith("Error") else None

    def __str__(self):
        return f"{self.status} {self.code}" if self.code else str(self.status)


def plain(tree):
    """Without namespaces: not all servers write them."""
    for node in tree.iter():
        node.tag = node.tag.rsplit("}", 1)[-1]
    return tree


class Direct(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_):
        return None


class Eyes:
    """A bucket, looked at and cleaned with requests of our own."""

    def __init__(self, bucket, region, credentials, endpoint=None):
        self.bucket, self.region, self.credentials, self.endpoint = bucket, region, credentials, endpoint
        self.offset, self.servers, self.patience = 0, set(), 4
        context = ssl.create_default_context(cafile=os.environ.get("AWS_CA_BUNDLE") or None)
        self.opener = urllib.request.build_opener(Direct(), urllib.request.HTTPSHandler(context=context))

    def address(self, key):
        """(scheme and host, path)."""
        path = quote(key, safe="/-_.~")
        if self.endpoint:
            parts = urlsplit(self.endpoint)
            return f"{parts.scheme}://{parts.netloc}", f"{parts.path.rstrip('/')}/{self.bucket}{'/' + path if key else ''}"
        host = f"s3.{self.region}.amazonaws.com{'.cn' if self.region.startswith('cn-') else ''}"
        if "." in self.bucket:
            # No certificate is for such a name before the host's.
            return f"https://{host}", f"/{self.bucket}/{path}" if key else f"/{self.bucket}"
        return f"https://{self.bucket}.{host}", f"/{path}"

    def ask(self, method, key="", query="", body=b"", headers=None, lie=None, accept=None):
        """The answer to a signed request. `query`: encoded, each name with its "=". `lie`: "secret", "clock" or "digest"."""
        for attempt in range(self.patience):
            if attempt:
                time.sleep(2 ** attempt / 2)
            try:
                answer = self.once(method, key, query, body, headers or {}, lie)
            except (OSError, HTTPException) as error:
                failure = EyesFailed(f"{method}: {getattr(error, 'reason', None) or error}")
                continue
            if answer.status in RETRIED and answer.status not in (accept or ()):
                failure = EyesFailed(f"{method}: {answer}")
                continue
            if answer.code == "RequestTimeTooSkewed" and not lie and answer.headers.get("date"):
                self.offset = parsedate_to_datetime(answer.headers["date"]).timestamp() - time.time()
                failure = EyesFailed(f"{method}: {answer}")
                continue
            if accept and answer.status not in accept:
                raise EyesFailed(f"{method}{' ?' + query.split('=')[0] if query else ''}: {answer}")
            return answer
        raise failure

    def once(self, method, key, query, body, headers, lie):
        key_id, secret, token = self.credentials.get()
        base, path = self.address(key)
        moment = datetime.now(timezone.utc) + timedelta(seconds=self.offset - (3600 if lie == "clock" else 0))
        now, digest = moment.strftime("%Y%m%dT%H%M%SZ"), hashlib.sha256(body if lie != "digest" else b"other").hexdigest()
        signed = {"host": urlsplit(base).netloc, "x-amz-content-sha256": digest, "x-amz-date": now,
                  **{name.lower(): value for name, value in headers.items()}}
        if token:
            signed["x-amz-security-token"] = token
        names, scope, proof = signature(secret + ("x" if lie == "secret" else ""), self.region, now, method, path, query, signed,
                                        digest)
        signed["authorization"] = f"AWS4-HMAC-SHA256 Credential={key_id}/{scope}, SignedHeaders={names}, Signature={proof}"
        del signed["host"]
        # urllib would call a body a form.
        signed.setdefault("content-type", "application/octet-stream")
        return self.open(urllib.request.Request(f"{base}{path}{'?' + query if query else ''}", body or None, signed,
                                                method=method))

    def open(self, request):
        try:
            with self.opener.open(request, timeout=60) as answer:
                found = Answer(answer.status, {name.lower(): value for name, value in answer.headers.items()}, answer.read())
        except urllib.error.HTTPError as error:
            with error:
                found = Answer(error.code, {name.lower(): value for name, value in error.headers.items()}, error.read())
        if found.headers.get("server"):
            self.servers.add(found.headers["server"].split(" ")[0])
        return found

    def fetch(self, link):
        """As whoever has a link does it: without credentials."""
        try:
            return self.open(urllib.request.Request(link, headers={"User-Agent": "try-amazon"}))
        except (OSError, HTTPException) as error:
            raise EyesFailed(f"GET of a link: {getattr(error, 'reason', None) or error}") from error

    def find_region(self):
        """The answer to HEAD of the bucket, in the region where it is."""
        answer = self.ask("HEAD")
        told = answer.headers.get("x-amz-bucket-region")
        if told and told != self.region and answer.status != 404:
            self.region = told
            answer = self.ask("HEAD")
        return answer

    # What there is.

    def pages(self, query, token_of):
        """Trees of a listing, page by page."""
        more = ""
        for _ in range(1000):
            answer = self.ask("GET", query=query + more)
            if answer.status != 200:
                raise EyesFailed(f"GET ?{query.split('=')[0]}: {answer}")
            tree = plain(ElementTree.fromstring(answer.body))
            yield tree
            more = token_of(tree)
            if not more:
                return

    def versions(self, prefix):
        """[(key, version)] of all versions and delete markers below a prefix; None as version where it has no versions."""
        def more(tree):
            if (tree.findtext("IsTruncated") or "").lower() != "true":
                return ""
            return "".join(f"&{name}={quote(tree.findtext(tag) or '', safe='-_.~')}" for name, tag in
                           (("key-marker", "NextKeyMarker"), ("version-id-marker", "NextVersionIdMarker")) if tree.findtext(tag))
        found, is_versioned = [], False
        for tree in self.pages(f"versions=&prefix={quote(prefix, safe='-_.~')}", more):
            if tree.tag != "ListVersionsResult":
                raise EyesFailed(f"GET ?versions: {tree.tag}")
            for node in tree:
                if node.tag in ("Version", "DeleteMarker"):
                    version = node.findtext("VersionId") or "null"
                    is_versioned = is_versioned or node.tag == "DeleteMarker" or version != "null"
                    found.append((node.findtext("Key"), version))
        return found if is_versioned else [(key, None) for key, _ in found]

    def listing(self, prefix):
        """{key: (size, class)}."""
        def more(tree):
            token = tree.findtext("NextContinuationToken")
            return f"&continuation-token={quote(token, safe='-_.~')}" if token else ""
        return {node.findtext("Key"): (int(node.findtext("Size") or 0), node.findtext("StorageClass") or "STANDARD")
                for tree in self.pages(f"list-type=2&prefix={quote(prefix, safe='-_.~')}", more)
                for node in tree.iter("Contents")}

    def uploads(self, prefix):
        """[(key, id)] of uploads in parts that nobody has ended."""
        tree = plain(ElementTree.fromstring(self.ask("GET", query=f"prefix={quote(prefix, safe='-_.~')}&uploads=",
                                                     accept=(200,)).body))
        return [(node.findtext("Key"), node.findtext("UploadId")) for node in tree.iter("Upload")
                if (node.findtext("Key") or "").startswith(prefix)]

    def delete(self, key, version=None):
        return self.ask("DELETE", key, f"versionId={quote(version, safe='-_.~')}" if version else "")


def content_md5(data):
    return base64.b64encode(hashlib.md5(data, usedforsecurity=False).digest()).decode()


def signing_complaints():
    """The examples of Amazon's own documentation ("Signature Calculations for the Authorization Header")."""
    for method, path, query, headers, digest, wanted in (
            ("GET", "/test.txt", "", {"range": "bytes=0-9"}, EMPTY,
             "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"),
            ("PUT", "/test%24file.text", "",
             {"date": "Fri, 24 May 2013 00:00:00 GMT", "x-amz-storage-class": "REDUCED_REDUNDANCY"},
             hashlib.sha256(b"Welcome to Amazon S3.").hexdigest(),
             "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd"),
            ("GET", "/", "lifecycle=", {}, EMPTY, "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"),
            ("GET", "/", "prefix=J&max-keys=2", {}, EMPTY, "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7")):
        now = "20130524T000000Z"
        all_headers = {"host": "examplebucket.s3.amazonaws.com", "x-amz-content-sha256": digest, "x-amz-date": now, **headers}
        secret = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"
        found = signature(secret, "us-east-1", now, method, path, query, all_headers, digest)[2]
        if found != wanted:
            yield f"{method} {path}?{query} is signed by {found}"
