"""`make bench`: the product's speed and size compared with its peers'. ARGS names the parts; default: all."""

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path

import django

from bench.results import LONG_PARTS, PARTS

BULK = {"ingest", "disk", "q1"}
ALONE = {"crowd", "histories", "verdicts"}  # beside no other store


def main(argv: Sequence[str]) -> int:
    """Exit code 1: a target was missed. 2: something could not be measured."""
    parser = argparse.ArgumentParser(prog="make bench", description=__doc__)
    parser.add_argument(
        "parts", nargs="*", metavar="PART", help=f"{', '.join(PARTS)}; none: these; and {', '.join(LONG_PARTS)}"
    )
    parser.add_argument(
        "--rig-runs", type=int, default=100_000, help="runs of the large warehouse for `pages` and `load`"
    )
    parser.add_argument("--load-seconds", type=float, default=3600.0, help="how long `load` lasts")
    options = parser.parse_args(argv)
    unknown = set(options.parts) - {*PARTS, *LONG_PARTS}
    if unknown:
        parser.error(f"there is no part {', '.join(sorted(unknown))}; there are {', '.join(PARTS)}")
    os.environ["SPLASHBOARD_LOG_LEVEL"] = "WARNING"
    django.setup()
    from bench.servers import Failed  # noqa: PLC0415 - models need the set-up above
    from config.launch import processes  # noqa: PLC0415

    processes.Signals.install()
    try:
        return _measure(options.parts or list(PARTS), rig_runs=options.rig_runs, load_seconds=options.load_seconds)
    except Failed as failed:
        say(f"FAILED: {failed}")
        return 2
    except processes.Interrupted as interrupted:
        return 128 + interrupted.signum


def _measure(parts: Sequence[str], *, rig_runs: int, load_seconds: float) -> int:
    from bench import (  # noqa: PLC0415
        across_runs,
        agent_cost,
        bulk,
        crowd,
        detection,
        duet,
        following,
        live,
        load,
        machine,
        pages,
        panels,
        peers,
        rates,
        results,
        sealing,
        start,
        verdicts,
        warehouse,
    )
    from bench.context import Bench  # noqa: PLC0415
    from config.launch import places  # noqa: PLC0415

    with tempfile.TemporaryDirectory(prefix="splashboard-bench-") as name, ExitStack() as stack:
        folder = Path(name)
        wanted = () if set(parts) <= {*LONG_PARTS, *ALONE} else peers.PROGRAMS
        absent = {peer: "not installed" for peer in wanted if peers.version_of(peer) is None}
        for peer, why in absent.items():
            say(f"{peer} is {why}: it is skipped")
        here = {peer: stack.enter_context(peers.started(peer, folder)) for peer in wanted if peer not in absent}
        ours = stack.enter_context(
            warehouse.started(folder, runs=bulk.RUNS + across_runs.RUNS + live.RUNS + sealing.RUNS)
        )
        bench = Bench(ours, here, absent, say)
        if BULK & set(parts):
            stored = bulk.store(bench)
            if "ingest" in parts:
                bulk.report_ingest(bench, stored)
            if "disk" in parts:
                bulk.report_disk(bench, stored, folder)
            if "q1" in parts:
                rates.measure(bench, stored, places.from_environment().port)
        address = os.environ["DATABASE_URL"]
        port = places.from_environment().port

        def detect() -> None:
            detection.measure(bench, folder)
            following.measure(bench)

        steps: dict[str, Callable[[], None]] = {
            "q2": lambda: across_runs.measure(bench),
            "live": lambda: live.measure(bench),
            "pages": lambda: pages.measure(bench, folder, runs=rig_runs),
            "crowd": lambda: crowd.measure(bench, folder, port=port, url=address),
            "panels": lambda: panels.measure(bench, folder),
            "start": lambda: start.measure(bench, folder),
            "memory": lambda: sealing.measure(bench),
            "verdicts": lambda: verdicts.measure(bench),
            "detection": detect,
            "histories": lambda: detection.measure_histories(bench, folder),
            "cost": lambda: agent_cost.measure(bench, folder),
            "duet": lambda: duet.measure(bench, folder),
            "load": lambda: load.measure(bench, runs=rig_runs, seconds=load_seconds, port=port, url=address),
        }
        for part, step in steps.items():
            if part in parts:
                step()
        now = results.Results(
            measured_on=bench.today,
            machine=machine.facts(),
            versions=machine.versions(here.values()),
            data=bench.data,
            figures=bench.figures,
        )
        everything = results.merged(results.load(), results.of_version(now))
        results.save(everything)
    missed = [figure.title for figure in now.figures if figure.passed is False]
    say(f"{len(now.figures)} figures, {len(missed)} bars missed; see docs/reference/performance.md")
    return 1 if missed else 0


_began = time.monotonic()


def say(text: str) -> None:
    print(f"  {time.monotonic() - _began:5.0f} s  {text}", flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
