"""Kill writers, and servers under them, and see what is left of each session.

    python benchmarks/crash.py [--rounds 50] [--seed 0] [--store sqlite ...]

A child process adds messages and says which ones were acknowledged, until it is killed (SIGKILL).
Then every acknowledged message must be there, in order, with at most the one in flight more; the
window must be the one that a replay of the history leaves; and the session must go on. The
servers are started here; Redis has ``appendonly yes`` and ``appendfsync always``.
"""

from __future__ import annotations

import argparse
import random
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from store_writers import KINDS, check_crash, crash, served


def main() -> None:
    """Print how many rounds went well; the first that does not ends it."""
    parser = argparse.ArgumentParser(description="Kill writers, and see what is left.")
    parser.add_argument("--rounds", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--store", nargs="+", choices=KINDS, default=KINDS)
    given = parser.parse_args()
    for kind in given.store:
        dice = random.Random(given.seed)
        with TemporaryDirectory() as folder, served(kind, Path(folder)) as place:
            for victim in ("writer", "server") if place.kill else ("writer",):
                acknowledged = 0
                for number in range(given.rounds):
                    id = f"{victim} {number}"
                    count = crash(place, id, dice, victim=victim)
                    check_crash(place.url, id, count)
                    acknowledged += count
                print(
                    f"{kind}: {given.rounds} times the {victim} was killed, {acknowledged} "
                    "acknowledged additions are there",
                    flush=True,
                )


if __name__ == "__main__":
    main()
