"""The page that can be sent in."""

import platform
from datetime import datetime, timezone
from pathlib import Path


def cell(text):
    """One line of a table, whatever a program or a server has said."""
    return " ".join(str(text).split()).replace("|", "\\|").replace("<", "&lt;")


def system():
    try:
        for line in Path("/etc/os-release").read_text().splitlines():
            if line.startswith("PRETTY_NAME="):
                return line.partition("=")[2].strip('"')
    except OSError:
        pass
    return platform.system()


def written(trial, rows, checks, costs, servers, version):
    """Markdown. All that a program or a server has said has gone through the redaction; the rest is written here."""
    place = "Amazon S3" if not trial["endpoint"] else "another server (a rehearsal)"
    bucket = "made by this run" if trial["creates"] else "one that was there, below a prefix of its own"
    states = [row["state"] for row in rows]
    tally = ", ".join(f"{states.count(state)} {state}" for state in dict.fromkeys(states))
    lines = [
        f"# sync-agent at {place}", "",
        f"sync-agent {cell(version)} · {datetime.now(timezone.utc):%Y-%m-%d %H:%M} UTC · region {cell(trial['region_seen'])}"
        f" · server: {cell(', '.join(sorted(servers)) or 'not told')} · {cell(system())}, {platform.machine()}. Bucket: {bucket}.",
        "",
        f"**{tally}**", "",
        "| step | result | seconds | seen |", "| --- | --- | ---: | --- |"]
    for row in rows:
        seen = [*row["seen"], *(f"**wrong: {words}**" for words in row["wrong"]),
                *(f"not supported here: {words}" for words in row["unsupported"])]
        lines.append(f"| {cell(row['title'])} | {row['state']} | {row['seconds']:.1f} | {'; '.join(map(cell, seen))} |")
    if checks:
        lines += ["", "## doctor", "", "| check | state | what it says |", "| --- | --- | --- |"]
        for name, state, detail, remedy in checks:
            lines.append(f"| {cell(name)} | {state} | {cell(detail)}{' → ' + cell(remedy) if remedy else ''} |")
    lines += ["", "## What it was to cost at most", "", "```", *costs, "```", "",
              "Ids of keys and accounts, names of buckets, users and hosts, paths, addresses and signatures were taken out by "
              "the script; read it before you send it.", ""]
    return "\n".join(lines)


def leaks(text, redact):
    """What of the secrets that are known to this run is in the text all the same."""
    small = text.lower()
    return [redact.words[word] for word in redact.secrets() if word.lower() in small]
