"""Histories of real servers (bench/lab_sessions.py) as series of which it is known where settings changed.

Whether a setting changed a series is three-valued, judged by all sessions between the neighbouring changes: it did, it
did not, or that cannot be said, and then an alarm there counts neither way.
"""

import gzip
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import msgspec
import numpy as np
from scipy import stats

from bench.histories import Floats, KnownSeries
from bench.lab_sessions import LOADS, PLANS, SESSIONS

FILE = Path(__file__).parent / "data" / "lab_sessions.json.gz"
WARM_UP = 1  # of the seconds of a load
# A change is at least this share, and this sure.
LEAST, SURE = 0.02, 1e-3
CONFIDENCE = 0.95


class LoadSeconds(msgspec.Struct):
    """Transactions/s and 95th percentile, ms, of each second. `steal`: share of the processors' time that the
    hypervisor gave to others meanwhile."""

    tps: list[float]
    p95: list[float]
    steal: float


class LabSession(msgspec.Struct):
    system: str
    session: int
    at: str
    settings: dict[str, str]
    canary: list[float]  # CPU time, ms, of the agent's fixed piece of work, before each load and last
    oltp_read_only: LoadSeconds
    oltp_read_write: LoadSeconds


def sessions() -> Mapping[str, Sequence[LabSession]]:
    """By system, in order."""
    lines = gzip.decompress(FILE.read_bytes()).splitlines()
    found: dict[str, list[LabSession]] = {system: [] for system in PLANS}
    for each in (msgspec.json.decode(line, type=LabSession) for line in lines):
        found[each.system].append(each)
    if any([each.session for each in own] != list(range(SESSIONS)) for own in found.values()):
        raise ValueError(f"{FILE.name} does not hold {SESSIONS} sessions of each system in order")
    return found


def recorded() -> dict[str, KnownSeries]:
    """Throughput and latency of each load on each system, by name."""
    found = {}
    for system, own in sessions().items():
        for number, load in enumerate(LOADS):
            seconds: list[LoadSeconds] = [getattr(each, load) for each in own]
            throughput = np.array([np.mean(each.tps[WARM_UP:]) for each in seconds])
            # Of percentiles the middle second's: their mean is none.
            latency = np.array([np.median(each.p95[WARM_UP:]) for each in seconds])
            # Before and after the load: more than is known before a run.
            speed = [np.log(np.mean(each.canary[number : number + 2])) for each in own]
            beside = np.column_stack([speed, [each.steal for each in seconds]])
            places = list(PLANS[system])[1:]
            for what, values in (("throughput", throughput), ("p95", latency)):
                found[f"{system}, {load}, {what}"] = replace(
                    known(values, places, beside),
                    canary=tuple(each.canary[number] for each in own),
                    stolen=tuple(100 * each.steal for each in seconds),
                    falls=what == "throughput",
                )
    return found


def known(values: Floats, changes: Sequence[int], beside: Floats | None = None) -> KnownSeries:
    """`changes`: first sessions of other settings. `beside`: what is known of each session's machine (sessions, n)."""
    x = np.empty((len(values), 0)) if beside is None else beside
    true, unsure = [], []
    for before, at, after in zip([0, *changes], changes, [*changes[1:], len(values)], strict=False):
        did = changed(values[before:after], at - before, x[before:after])
        if did is None:
            unsure.append(at)
        elif did:
            true.append(at)
    return KnownSeries(values, tuple(true), unsure=tuple(unsure))


def changed(values: Floats, at: int, beside: Floats) -> bool | None:
    """Whether sessions from `at` on differ, by least squares of the logarithms on that and on what is known of the
    machine. False: the 95 % interval lies within LEAST; None: neither is shown."""
    count = len(values)
    x = np.column_stack([np.arange(count) >= at, np.ones(count), beside])
    freedom = count - x.shape[1]
    y = np.log(values)
    effects = np.linalg.lstsq(x, y, rcond=None)[0]
    rest = y - x @ effects
    error = math.sqrt(float(rest @ rest) / freedom * np.linalg.pinv(x.T @ x)[0, 0])
    effect, least = float(effects[0]), math.log1p(LEAST)
    if 2 * stats.t.sf(abs(effect) / error, freedom) <= SURE and abs(effect) >= least:
        return True
    reach = stats.t.ppf((1 + CONFIDENCE) / 2, freedom) * error
    return False if abs(effect) + reach <= least else None
