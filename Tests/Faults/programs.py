"""Which program a trial is of."""

import os
import sys
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
