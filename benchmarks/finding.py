"""How the time to find items grows with hostile texts: four is linear, sixteen quadratic.

    python benchmarks/finding.py [--characters 30000] [--repeats 5]

For each piece of the tests its text and one four times as long, the fastest of the repeats.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "tests" / "needs"))

from test_finding import HOSTILE

from chatmem_lab.needs import find_items


def main() -> None:
    """Print a table, the worst growth first."""
    parser = argparse.ArgumentParser(description="Growth of the search for items.")
    parser.add_argument("--characters", type=int, default=30_000, help="of the shorter text")
    parser.add_argument("--repeats", type=int, default=5)
    given = parser.parse_args()
    rows = []
    for piece in HOSTILE:
        shorter, longer = (
            min(seconds(piece * (n // len(piece))) for _ in range(given.repeats))
            for n in (given.characters, 4 * given.characters)
        )
        rows.append((longer / shorter, longer, piece))
    print("| piece | seconds | times the shorter |")
    print("| --- | ---: | ---: |")
    for ratio, longer, piece in sorted(rows, reverse=True):
        print(f"| `{piece!r}` | {longer:.3f} | {ratio:.1f} |")


def seconds(text: str) -> float:
    """Process time of one search."""
    start = time.process_time()
    find_items(text)
    return time.process_time() - start


if __name__ == "__main__":
    main()
