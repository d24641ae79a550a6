"""Runs in Apache Otava's environment, not in ours: one series per JSON line in, its changes per line out.

For a series (runs,) a line with `indices`: the changes found in its first n runs, for every n from `first` on; and
`seconds` of CPU. Otherwise Otava's defaults.
"""

import json
import sys
import time

from otava.analysis import compute_change_points

WINDOW, P = 50, 1e-6  # tuned: fewer false alarms than its own p of .001


def main() -> None:
    for line in sys.stdin:
        asked = json.loads(line)
        values, first = asked["values"], asked["first"]
        began = time.process_time()
        indices = [found(values[:count]) for count in range(first, len(values) + 1)]
        seconds = time.process_time() - began
        print(json.dumps({"indices": indices, "seconds": seconds}), flush=True)


def found(values: list[float]) -> list[int]:
    changes, _ = compute_change_points(values, window_len=WINDOW, max_pvalue=P)
    return [int(change.index) for change in changes]


if __name__ == "__main__":
    main()
