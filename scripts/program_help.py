"""What `sync-agent` tells of itself, for the pages that are made of it (scripts/make-man, scripts/make-reference)."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# Names, and what they are for. Each stands in both pages.
ENVIRONMENT = [
    (["SYNC_AGENT_CONFIG"], "The configuration file, where --config does not name one."),
    (["XDG_CONFIG_HOME", "XDG_STATE_HOME"],
     "Where configuration and state are, in place of ~/.config and ~/.local/state."),
    (["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_PROFILE"],
     "Credentials for an S3 store, as every AWS tool reads them."),
    (["AWS_ROLE_ARN", "AWS_WEB_IDENTITY_TOKEN_FILE"], "A role for an S3 store, taken with the token of a web identity."),
    (["AWS_REGION", "AWS_DEFAULT_REGION", "AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_CA_BUNDLE"],
     "Where the store is, and whose certificates to trust."),
    (["NO_COLOR"], "No colour on a terminal either."),
]


def program():
    """The program to ask: SYNC_AGENT_BINARY, else the one that was built last."""
    named = os.environ.get("SYNC_AGENT_BINARY")
    folders = (".build/debug", ".build/release", ".build-tests/release")
    built = [path for path in (ROOT / folder / "sync-agent" for folder in folders) if path.exists()]
    if not named and not built:
        sys.exit(f"{Path(sys.argv[0]).name}: no program: build it (swift build), or name one in SYNC_AGENT_BINARY")
    return Path(named) if named else max(built, key=lambda path: path.stat().st_mtime)


def answer(binary, *arguments):
    return subprocess.run([binary, *arguments], check=True, stdout=subprocess.PIPE, encoding="utf-8").stdout


def dumped(binary):
    """The tree of all commands, as swift-argument-parser gives it."""
    return json.loads(answer(binary, "--experimental-dump-help"))


def shown(rows):
    return [row for row in rows or [] if row.get("shouldDisplay", True)]


def below(command):
    """The sub-commands, without `help`, which each program has."""
    return [row for row in shown(command.get("subcommands")) if row["commandName"] != "help"]


def spelled(argument):
    """The names of a flag or option, as they are typed."""
    return [("-" if name["kind"] == "short" else "--") + name["name"] for name in argument.get("names", [])]


def value_name(argument):
    return argument.get("valueName", "value").upper()


def is_common(argument):
    """Whether every command has it. A `--version` that takes a value is a command's own."""
    return argument["kind"] == "flag" and bool({"--help", "--version"} & set(spelled(argument)))


def own_arguments(command):
    rows = [row for row in shown(command.get("arguments")) if not is_common(row)]
    texts = {name: row.get("abstract") for row in rows for name in spelled(row)}
    return [{**row, **opposite(row, texts)} for row in rows]


def opposite(argument, texts):
    """What is told of `--no-guests`: the program has the text of `--guests` for both."""
    for name in spelled(argument):
        positive = "--" + name.removeprefix("--no-")
        if name.startswith("--no-") and texts.get(positive, "") == argument.get("abstract"):
            return {"abstract": f"The opposite of {positive}."}
    return {}


def leaves(path, command):
    """(path, command) of all commands that do something."""
    if not below(command):
        yield path, command
    for row in below(command):
        yield from leaves([*path, row["commandName"]], row)


def left_out(tool):
    """What the help of a command shows, and the pages do not: all that is not the same in every command is its own."""
    def shape(argument):
        return tuple(spelled(argument)), argument["kind"], argument.get("abstract")

    commands = [(path, shown(command.get("arguments")), own_arguments(command))
                for path, command in leaves([], tool["command"])]
    everywhere = set.intersection(*({shape(row) for row in rows} for _, rows, _ in commands))
    for path, rows, own in commands:
        told = {(tuple(spelled(row)), row["kind"]) for row in own}
        for row in rows:
            if shape(row) not in everywhere and shape(row)[:2] not in told:
                yield f"{' '.join(path)}: {', '.join(spelled(row)) or value_name(row)} is in its help alone"


def meaning(argument):
    """What an argument is for, with its default and its values."""
    text = [argument.get("abstract", ""), argument.get("discussion", "")]
    if argument.get("defaultValue") is not None and argument["kind"] != "flag":
        text.append(f"Default: {argument['defaultValue']}.")
    if argument.get("allValues"):
        text.append(f"Values: {', '.join(argument['allValues'])}.")
    return " ".join(part.strip() for part in text if part and part.strip())


def paragraphs(text):
    """Yields (is it shown as it stands?, its text): those with indented lines are examples and tables."""
    for paragraph in re.split(r"\n[ \t]*\n", text.strip("\n")):
        yield any(line.startswith(("  ", "\t")) for line in paragraph.splitlines()), paragraph


def exit_codes(tool):
    """(code, when), from the EXIT CODES of the program's own help."""
    text = next(text for _, text in paragraphs(tool["command"]["discussion"]) if text.startswith("EXIT CODES"))
    return [re.match(r"\s*((?:\d+, )*\d+)\s+(.+)", line).groups() for line in text.splitlines()[1:]]
