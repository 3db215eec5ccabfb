"""Which program a trial is of, and what is loaded before it."""

import atexit
import os
import shutil
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
RELEASE = ROOT / ".build/release/sync-agent"
# Built by scripts/build-tests.
OF_TESTS = ROOT / ".build-tests/release/sync-agent"


def program_for(script, built):
    """SYNC_AGENT_BINARY, else what was built. Where there is none, the script ends."""
    binary = Path(os.environ.get("SYNC_AGENT_BINARY") or built).absolute()
    if not os.access(binary, os.X_OK):
        sys.exit(f"{script}: {binary} is not there: build it, or set SYNC_AGENT_BINARY")
    return binary


@cache
def library(source):
    """A C file as a library for LD_PRELOAD; it goes with the trial."""
    folder = tempfile.mkdtemp(prefix=f"{source.stem}.")
    atexit.register(shutil.rmtree, folder)
    subprocess.run(["clang", "-shared", "-fPIC", "-o", f"{folder}/{source.stem}.so", source], check=True)
    return f"{folder}/{source.stem}.so"
