"""What the kernel says of a process, and of the machine."""

import os
import time
from pathlib import Path


def process_cpu(pid):
    """Seconds, in steps of 10 ms (proc(5), stat)."""
    with open(f"/proc/{pid}/stat") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def threads_cpu(pid):
    """Seconds of the threads that live, to the nanosecond (schedstat of each: Documentation/scheduler/sched-stats)."""
    return sum(int(path.read_text().split()[0]) for path in Path(f"/proc/{pid}/task").glob("*/schedstat")) / 1e9


def occupied(pid, prefix):
    """Seconds in which the threads of a name ran or waited for a core, together (schedstat, the first two numbers)."""
    threads = (path.parent for path in Path(f"/proc/{pid}/task").glob("*/comm") if path.read_text().startswith(prefix))
    return sum(sum(map(int, (thread / "schedstat").read_text().split()[:2])) for thread in threads) / 1e9


def unused_cpu():
    """Seconds of all cores together that nobody has used since boot (proc(5), stat)."""
    with open("/proc/stat") as file:
        ticks = [int(word) for word in file.readline().split()[1:]]
    return (ticks[3] + ticks[4]) / os.sysconf("SC_CLK_TCK")


def wait_for_quiet(patience):
    """Until other programs leave nine tenths of the machine alone for two seconds, or for so many seconds."""
    end = time.monotonic() + patience
    while time.monotonic() < end:
        before = unused_cpu()
        time.sleep(2)
        if unused_cpu() - before > 2 * os.cpu_count() * 0.9:
            return


def memory_kib(pid, name):
    try:
        lines = Path(f"/proc/{pid}/{name}").read_text().splitlines()
    except (FileNotFoundError, ProcessLookupError):
        return {}
    fields = (line.split() for line in lines if line.endswith(" kB"))
    return {words[0].rstrip(":"): int(words[1]) for words in fields}
