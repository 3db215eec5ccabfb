"""Measures other choices of the codec's encoder, for scripts/bench-codec --choices: in an environment of its own, for what
it imports is none of Debian's.

    choices.py FOLDER ROUNDS PHOTO.jpg …

FOLDER has the programs `choices` (the codec, with Benchmarks/Codec/choices.c) and `ssim`. What a choice loses is scored
against the reduced picture itself, the codec's copy at the finest quantisation: each encoder begins with the same samples.
"""

import bisect
import io
import math
import multiprocessing
import os
import statistics
import subprocess
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import repeat
from pathlib import Path

import numpy
import pyjpegli
import pyvips
from PIL import Image
from ssimulacra2 import compute_ssimulacra2

SIZE = 2048
# What is written, and by which name Benchmarks/Codec/choices.c and Pillow know it. Pillow stands for the codec's encoder
# where that is measured alone.
CODINGS = {
    "as it is": (None, {}), "Huffman tables of its own": ("optimized", {"optimize": True}),
    "progressive, five scans": ("few", None), "progressive, libjpeg's ten": ("progressive", {"progressive": True})}
# From fine to coarse: factors of quantisation tables, and qualities of encoders.
FACTORS = [0.05 * 1.06 ** step for step in range(72)]
QUALITIES = list(range(99, 20, -1))
# Tables that mozjpeg has, by its numbers.
TABLES = {"of Klein, Silverstein, Carney": 5, "of Robidoux": 3, "tuned for MS-SSIM": 2}


def tables_of(jpeg):
    """The quantisation tables of luma and chroma."""
    tables = Image.open(io.BytesIO(jpeg)).quantization
    return numpy.array([tables[0], tables[1]], dtype=float)


def vips_image(pixels):
    height, width, bands = pixels.shape
    return pyvips.Image.new_from_memory(pixels.tobytes(), width, height, bands, "uchar")


def encode_jpegli(pixels, quality):
    return pyjpegli.encode(pixels.tobytes(), pixels.shape[1], pixels.shape[0], quality)


def encode_mozjpeg(pixels, quality):
    return vips_image(pixels).jpegsave_buffer(
        Q=quality, interlace=True, optimize_coding=True, optimize_scans=True, trellis_quant=True, overshoot_deringing=True,
        quant_table=3, subsample_mode="on")


def encode_libjpeg(pixels, quality, **coding):
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, "jpeg", quality=quality, **coding)
    return file.getvalue()


PEERS = {"mozjpeg itself": encode_mozjpeg, "jpegli itself": encode_jpegli}


def bases():
    """{choice: (tables of quality 50)}"""
    few = numpy.zeros((16, 16, 3), numpy.uint8)
    ours = tables_of(encode_libjpeg(few, 50))
    return {
        "chroma finer by 0.7": ours * [[1], [0.7]],
        **{f"tables {name}": tables_of(vips_image(few).jpegsave_buffer(Q=50, quant_table=number))
           for name, number in TABLES.items()},
        "jpegli's tables": tables_of(encode_jpegli(few, 79)) / 0.4}


class Bench:
    """One photo, and what the codec makes of it."""

    def __init__(self, folder, photo):
        self.programs, self.photo = folder, photo
        self.folder = folder / f"choices-{Path(photo).stem}"
        self.folder.mkdir(exist_ok=True)
        self.copy, self.shown, self.reduced = (self.folder / name for name in ("copy.jpg", "copy.ppm", "reduced.ppm"))
        self.codec(tables=numpy.ones((2, 64)))
        Image.open(self.copy).convert("RGB").save(self.reduced)
        self.pixels = numpy.asarray(Image.open(self.reduced))

    def codec(self, tables=None, coding=None):
        """The copy's bytes."""
        self.measured(tables, coding)
        return self.copy.stat().st_size

    def measured(self, tables=None, coding=None):
        """(CPU ms, peak MiB) of the codec's process, which writes the copy."""
        environment = dict(os.environ)
        if tables is not None:
            file = self.folder / "tables"
            file.write_text(" ".join(str(int(number)) for number in numpy.clip(numpy.rint(tables), 1, 255).flat))
            environment["CHOICE_TABLES"] = str(file)
        if coding:
            environment["CHOICE_CODING"] = coding
        command = [self.programs / "choices", self.photo, self.copy, str(SIZE)]
        with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE) as process:
            words = process.stdout.read().split()
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            sys.exit(f"bench-codec: the codec ended with {process.returncode}")
        return (usage.ru_utime + usage.ru_stime) * 1000, int(words[-1]) / 1024

    def peer(self, encode, quality):
        self.copy.write_bytes(encode(self.pixels, quality))
        return self.copy.stat().st_size

    def scores(self):
        """(SSIM, SSIMULACRA2) of the copy."""
        Image.open(self.copy).convert("RGB").save(self.shown)
        ssim = subprocess.run([self.programs / "ssim", self.reduced, self.shown], stdout=subprocess.PIPE, check=True).stdout
        return float(ssim), float(compute_ssimulacra2(self.reduced, self.shown))

    def at_equal_scores(self, make, goal, scores, settings):
        """Bytes with which this choice has those scores, found between settings that score less and more.

        make: from one of the settings to bytes; they are ordered, the finest first. goal: bytes to begin at.
        """
        first = bisect.bisect_left(settings, -goal, key=lambda setting: -make(setting))
        found = {}

        def try_out(step):
            size = make(settings[max(0, min(step, len(settings) - 1))])
            found[step] = (math.log(size), self.scores())

        try_out(first)
        for score, wanted in enumerate(scores):
            for _ in range(6):
                values = [tried[score] for _, tried in found.values()]
                if min(values) <= wanted <= max(values):
                    break
                try_out(min(found) - 3 if wanted > max(values) else max(found) + 3)
        pairs = (sorted((tried[score], size) for size, tried in found.values()) for score in (0, 1))
        return tuple(math.exp(numpy.interp(wanted, *zip(*pair))) for wanted, pair in zip(scores, pairs))


def judge(folder, photo):
    """Of one photo: {choice: (bytes at equal SSIM, bytes at equal SSIMULACRA2)}, each as a part of the codec's own."""
    bench = Bench(folder, photo)
    size = bench.codec()
    scores = bench.scores()
    found = {name: (bench.codec(coding=coding),) * 2 for name, (coding, _) in CODINGS.items()}
    for name, tables in bases().items():
        found[name] = bench.at_equal_scores(lambda factor: bench.codec(tables * factor), size, scores, FACTORS)
    for name, encode in PEERS.items():
        found[name] = bench.at_equal_scores(lambda quality: bench.peer(encode, quality), size * 0.9, scores, QUALITIES)
    print(f"{Path(photo).name}: SSIM {scores[0]:.4f}, SSIMULACRA2 {scores[1]:.1f}, {size} bytes", flush=True)
    return {name: tuple(number / size for number in pair) for name, pair in found.items()}


def costs(folder, photo, rounds):
    """{choice: (CPU ms and peak MiB of the codec's process, CPU ms of an encoder alone)}: medians, taken in turns."""
    bench = Bench(folder, photo)
    encoders = {name: partial(encode_libjpeg, **words) for name, (_, words) in CODINGS.items() if words is not None} | PEERS
    runs = {name: ([], [], []) for name in (*CODINGS, *PEERS)}
    for _ in range(rounds):
        for name, (coding, _) in CODINGS.items():
            for column, number in zip(runs[name], bench.measured(coding=coding)):
                column.append(number)
        for name, encode in encoders.items():
            before = time.process_time()
            encode(bench.pixels, 83 if name in PEERS else 80)
            runs[name][2].append((time.process_time() - before) * 1000)
    return {name: [statistics.median(column) if column else None for column in columns] for name, columns in runs.items()}


def main():
    folder, rounds, photos = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]
    spent = costs(folder, photos[0], rounds)
    # libvips has threads by now, which a fork would not take along.
    with ProcessPoolExecutor(os.cpu_count(), multiprocessing.get_context("spawn")) as pool:
        judged = list(pool.map(judge, repeat(folder), photos))

    def change(name, score):
        """The mean over the photos, and the least and the most."""
        parts = [photo[name][score] for photo in judged]
        mean = math.exp(statistics.fmean(math.log(part) for part in parts))
        return f"{mean - 1:+.1%} ({min(parts) - 1:+.1%} to {max(parts) - 1:+.1%})" if name != "as it is" else ""

    print("\n| | bytes at equal SSIM | bytes at equal SSIMULACRA2 | codec, CPU ms | peak MiB | an encoder alone, CPU ms |")
    print("| --- | --- | --- | --- | --- | --- |")
    for name in judged[0]:
        columns = [f"{number:.0f}" if number is not None else "" for number in spent.get(name, (None,) * 3)]
        print(f"| {name} | {change(name, 0)} | {change(name, 1)} | {' | '.join(columns)} |")
    print(f"\nCPU and memory: {Path(photos[0]).name}")


if __name__ == "__main__":
    main()
