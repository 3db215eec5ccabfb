"""Other programs that do a part of what the agent does."""

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
RCLONE = os.environ.get("RCLONE", str(ROOT / ".build-servers/rclone/venv/bin/rclone"))


def rclone_environment(endpoint, folder):
    """A remote named `bench`, with the credentials of the environment and no configuration of the user's."""
    return {
        "RCLONE_CONFIG_BENCH_TYPE": "s3", "RCLONE_CONFIG_BENCH_PROVIDER": "Other",
        "RCLONE_CONFIG_BENCH_ENDPOINT": endpoint, "RCLONE_CONFIG_BENCH_ENV_AUTH": "true",
        "RCLONE_CONFIG_BENCH_REGION": "us-east-1", "RCLONE_CONFIG_BENCH_FORCE_PATH_STYLE": "true",
        "RCLONE_CONFIG_BENCH_LIST_VERSION": "2", "RCLONE_CONFIG": str(folder / "rclone.conf")}
