"""What a trial sends and what that costs at most, told before anything is sent."""

# List prices of us-east-1 in USD, as Sources/SyncConfig/Prices/prices.yaml has them. Elsewhere they are at most twice as high.
WRITES, READS = 0.005 / 1000, 0.0004 / 1000
WRITES_IA = 0.01 / 1000
ARCHIVED, ASKED_BACK, ASKED_BACK_GB = 0.05 / 1000, 0.10 / 1000, 0.02
STANDARD_MONTH, IA_MONTH, DEEP_MONTH, EGRESS = 0.023, 0.0125, 0.00099, 0.09
# Told by `doctor --archive`: an object in each class, their least days, and an expedited restore.
DOCTOR = 0.02
GB, MONTHS_OF_DEEP = 1 << 30, 6
LIMIT = 0.10
DEAREST = 2

# Of a run at most; scripts/try-amazon --rehearsal counts what a run asks of moto, and fails above it.
BOUNDS = {"PUT, POST, COPY, LIST": 500, "GET, HEAD": 700, "DELETE": 300}


class Plan:
    """Bytes are those of the photos as they are drawn: stored are their reduced copies, about a tenth. The large film is sent
    and not read back."""

    def __init__(self, drawn, large, is_amazon, keeps):
        self.sent, self.is_amazon, self.keeps = drawn // 4 + large, is_amazon, keeps
        self.read = drawn // 2
        self.cold = 2 << 20

    def rows(self):
        """(what, how much, USD at most)."""
        writes, reads, deletes = BOUNDS.values()
        days = 3 if self.keeps else 1
        rows = [
            ("PUT, POST, COPY, LIST", f"at most {writes} requests", writes * WRITES),
            ("GET, HEAD", f"at most {reads} requests", reads * READS),
            ("DELETE", f"at most {deletes} requests", 0.0),
            ("sent to the store", f"at most {megabytes(self.sent)}", 0.0),
            ("read back", f"at most {megabytes(self.read)}", self.read / GB * EGRESS),
            ("kept in STANDARD", f"{days} day{'s' if days > 1 else ''} at most", self.sent / GB * STANDARD_MONTH * days / 30),
            ("one photo in STANDARD_IA", "its least 30 days", self.cold / GB * IA_MONTH + 2 * WRITES_IA),
            ("one photo in DEEP_ARCHIVE", "its least 180 days, though it is deleted today",
             (self.cold + 40960) / GB * DEEP_MONTH * MONTHS_OF_DEEP + 2 * ARCHIVED),
            ("its restore, tier standard", "one request, one photo, a copy for 3 days",
             2 * ASKED_BACK + self.cold / GB * (ASKED_BACK_GB + STANDARD_MONTH / 10))]
        if self.is_amazon:
            rows.append(("doctor --archive", "an object in each class, and one expedited restore", DOCTOR))
        return rows

    def total(self):
        return sum(usd for _, _, usd in self.rows())

    def lines(self):
        for what, how_much, usd in self.rows():
            yield f"  {what:<28} {how_much:<50} ${usd:.5f}"
        yield f"  {'together, list prices of us-east-1':<79} ${self.total():.3f}"
        yield f"  {'the dearest regions ask about twice of it, at most':<79} ${DEAREST * self.total():.2f}"


def megabytes(count):
    return f"{count / 1e6:.0f} MB" if count >= 9_500_000 else f"{count / 1e6:.1f} MB"


def complaints():
    dear = DEAREST * Plan(64_000_000, 70_000_000, True, True).total()
    if dear >= LIMIT:
        yield f"a run may cost ${dear:.3f}, which is more than ${LIMIT}"
    if DEAREST * Plan(40_000_000_000, 70_000_000, True, True).total() < LIMIT:
        yield "the sum does not look at bytes"
