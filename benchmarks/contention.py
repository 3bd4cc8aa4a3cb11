"""Many processes that add to one session, beside one process that does all of it alone.

    python benchmarks/contention.py [--writers 8] [--additions 200] [--store sqlite ...]

``plain``: single messages, repeated by the memory where another was first. ``turns``: three
messages at once, repeated by the writer. Afterwards every message must be there once, numbered
without a gap, and each writer's in its order.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from store_writers import KINDS, check_contention, contend, served


def main() -> None:
    """Print a table: seconds, lost races, and the time of an addition against one writer."""
    parser = argparse.ArgumentParser(description="Many writers on one session.")
    parser.add_argument("--writers", type=int, default=8)
    parser.add_argument("--additions", type=int, default=200, help="of each writer")
    parser.add_argument("--store", nargs="+", choices=KINDS, default=KINDS)
    parser.add_argument("--how", nargs="+", choices=("plain", "turns"), default=("plain", "turns"))
    given = parser.parse_args()
    total = given.writers * given.additions
    print("| store | additions | writers | seconds | lost races | ms each | against one |")
    print("| --- | --- | ---: | ---: | ---: | ---: | ---: |")
    for kind in given.store:
        with TemporaryDirectory() as folder, served(kind, Path(folder)) as place:
            for how in given.how:
                alone = 0.0
                for writers in (1, given.writers):
                    id = f"{how} {writers}"
                    amount = {"writers": writers, "additions": total // writers, "how": how}
                    seconds, conflicts = contend(place.url, id, **amount)
                    check_contention(place.url, id, **amount)
                    alone = alone or seconds
                    print(
                        f"| {kind} | {total:,} {how} | {writers} | {seconds:.2f} | {conflicts:,} "
                        f"| {seconds / total * 1_000:.2f} | {seconds / alone:.2f} |",
                        flush=True,
                    )


if __name__ == "__main__":
    main()
