"""Amazon's list prices of requests for objects in STANDARD, as the program has them."""

import re
from pathlib import Path

FILE = Path(__file__).resolve().parent.parent.parent / "Sources/SyncConfig/Prices/prices.yaml"
TEXT = FILE.read_text()
STANDARD = TEXT.split("\n  STANDARD:\n")[1].split("\n\n")[0]
PUT, GET = (float(re.search(rf"{name}: ([\d.]+)", STANDARD)[1]) for name in ("put_per_1000", "get_per_1000"))
REGION, MONTH = (re.search(rf"^{name}: (\S+)", TEXT, re.M)[1] for name in ("region", "as_of"))
WORDS = f"Amazon's list prices for {REGION} of {MONTH}: ${PUT} for 1,000 PUT, POST or LIST, ${GET} for 1,000 GET or HEAD"
DEAR = {"PUT", "POST", "LIST"}


def cents(requests):
    """Of {kind: count}; a DELETE costs nothing."""
    return sum(count * (PUT if kind in DEAR else GET) / 10 for kind, count in requests.items() if kind != "DELETE")
