"""Times of commands, tables of them, and the bars that they are held against."""

import os
import shlex
import statistics
import subprocess
import tempfile
import time

from processes import memory_kib


class BenchFailed(Exception):
    """What could not be measured, and why."""


def timed(command, environment=None, accept=(0,)):
    """Wall and CPU seconds."""
    began = time.monotonic()
    process = subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.monotonic() - began
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in accept:
        raise BenchFailed(f"{shlex.join(map(str, command))}: {process.returncode}")
    return wall, usage.ru_utime + usage.ru_stime


def peak_mib(command, environment):
    """VmHWM as it was last seen. Not ru_maxrss: that includes our own memory from before exec."""
    process = subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
    peak = 0
    while process.poll() is None:
        peak = max(peak, memory_kib(process.pid, "status").get("VmHWM", 0))
        time.sleep(0.002)
    return peak / 1024


def in_turns(contestants, rounds):
    """Name -> (wall, CPU) of each round. One more round before, which does not count, warms the caches."""
    results = {name: [] for name in contestants}
    for turn in range(rounds + 1):
        for name, measure in contestants.items():
            result = measure()
            if turn:
                results[name].append(result)
    return results


def median(results, column=0):
    return statistics.median(row[column] for row in results)


class Measured:
    """One run of a command: wall and CPU in seconds, peak memory in MiB."""

    def __init__(self, command, environment, accept=(0,)):
        began = time.monotonic()
        with tempfile.TemporaryFile() as errors, tempfile.TemporaryFile() as output:
            process = subprocess.Popen(list(map(str, command)), env=environment, stdin=subprocess.DEVNULL,
                                       stdout=output, stderr=errors)
            peak = 0
            while os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
                peak = max(peak, memory_kib(process.pid, "status").get("VmHWM", 0))
                time.sleep(0.005)
            self.wall = time.monotonic() - began
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            errors.seek(0)
            output.seek(0)
            self.output, told = output.read(), errors.read().decode(errors="replace")
        self.cpu, self.peak = usage.ru_utime + usage.ru_stime, peak / 1024
        if process.returncode not in accept:
            raise BenchFailed(f"{command}: {process.returncode}\n{told[-2000:]}")

    @property
    def cells(self):
        return [f"{self.wall:.2f}", f"{self.cpu:.2f}", f"{self.peak:.0f}"]


def told(requests):
    return ", ".join(f"{count:,} {kind}" for kind, count in sorted(requests.items())) or "none"


def milliseconds(seconds):
    return f"{seconds * 1000:.0f}"


def spread(results, column=0):
    values = [row[column] for row in results]
    return f"{milliseconds(median(results, column))} ({milliseconds(min(values))}–{milliseconds(max(values))})"


def head(names):
    row(names)
    print("|" + " --- |" * len(names), flush=True)


def row(cells):
    print("| " + " | ".join(map(str, cells)) + " |", flush=True)


def table(names, rows):
    head(names)
    for cells in rows:
        row(cells)
    print(flush=True)


class Bars:
    def __init__(self):
        self.missed = []

    def judge(self, bar, measured, met):
        print(f"- {bar}: {measured}: **{'met' if met else 'missed'}**", flush=True)
        if not met:
            self.missed.append(f"{bar}: {measured}")
