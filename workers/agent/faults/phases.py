"""Derives the phases of a failover from the record. Pure; all times in s on the probe's clock."""

import math
import statistics
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

# Gaps of up to INTERVALS probe intervals are no interruption; nor are gaps without a failed write of up to TIMES_BEFORE
# times the longest gap before the fault.
INTERVALS = 3
TIMES_BEFORE = 2
SILENT = ("kill", "freeze", "cut")  # after these the affected node sends no further reports
# How MHA's manager, and a lab's, conclude that the source is gone. Their earlier lines are suspicion: MHA pings three
# more times and queries the other servers.
CONCLUDED = ("Master is down!", '"event": "detected"')
ADDRESS = " address is "  # in a sign of the proxy: a server has a new address


@dataclass(frozen=True)
class Write:
    """An insert that was due at `due` and ended at `end`, acknowledged by `server` or failed."""

    due: float
    end: float
    ok: bool
    server: str = ""


@dataclass(frozen=True)
class State:
    """A node's state from `t` on, polled as different at `before`. `cluster`: its view of the cluster or group, "" of
    others. `in_sync`: it takes part in that, as a reader does that is never writable."""

    t: float
    before: float
    node: str
    answers: bool
    writable: bool
    cluster: str = ""
    in_sync: bool = False


@dataclass(frozen=True)
class Sign:
    """A line from a manager or proxy at `t`."""

    t: float
    text: str


@dataclass(frozen=True)
class Gap:
    """No write was acknowledged from `start` to `end`; None: not before the probe's end at `until`."""

    start: float
    end: float | None
    until: float

    @property
    def length(self) -> float:
        return (self.until if self.end is None else self.end) - self.start


@dataclass(frozen=True)
class PhaseMoment:
    """When something happened, and by which evidence. `suspected`: time of the first sign in that evidence."""

    t: float
    evidence: str
    text: str
    suspected: float | None = None


@dataclass(frozen=True)
class SteadyState:
    """The criterion for "back to baseline"; see docs/reference/failover.md."""

    seconds: int = 3
    share: float = 0.9
    latency: float = 3.0


def gaps(writes: Sequence[Write], *, start: float, until: float) -> list[Gap]:
    """The gaps between acknowledged writes, including before the first and after the last.

    `until`: when the last write was due; a later acknowledgement closes the last gap.
    """
    ends = sorted(write.end for write in writes if write.ok)
    found = [Gap(earlier, later, until) for earlier, later in zip([start, *ends], ends, strict=False)]
    last = ends[-1] if ends else start
    return [*found, Gap(last, None, until)] if until > last else found


def outage(writes: Sequence[Write], *, fault: float, start: float, until: float) -> Gap | None:
    """The longest gap still open at the fault or later; None when there was no write at all."""
    after = [gap for gap in gaps(writes, start=start, until=until) if gap.end is None or gap.end > fault]
    return max(after, key=lambda gap: gap.length, default=None)


def is_interruption(gap: Gap, writes: Sequence[Write], *, fault: float, start: float, interval: float) -> bool:
    """Whether writes failed in `gap`, or it exceeds the gaps of the healthy system from `start` on."""
    if gap.length <= INTERVALS * interval:
        return False
    end = gap.until if gap.end is None else gap.end
    if any(not write.ok and gap.start <= write.end <= end for write in writes):
        return True
    usual = [one.length for one in gaps(writes, start=start, until=fault) if one.end is not None and one.end <= fault]
    return gap.length > TIMES_BEFORE * max(usual, default=0.0)


def moment(control: str, began: float, ended: float, states: Sequence[State], node: str) -> float:
    """The time of the fault, for a control that ran from `began` to `ended`: the affected node's last answer.

    Controls not in SILENT count from their beginning: a stopping node still answers for a while.
    """
    if control not in SILENT:
        return began
    gone = [state for state in states if state.node == node and not state.answers and state.t >= began]
    last = gone[0].before if gone else ended
    return min(max(last, began), ended)


def detected(
    *,
    fault: float,
    states: Sequence[State] = (),
    manager: Sequence[Sign] = (),
    proxy: Sequence[Sign] = (),
    errors: Sequence[Sign] = (),
    struck: str = "",
) -> PhaseMoment | None:
    """When the fault was detected: by the cluster's own view, else its manager, its proxy, or the client."""
    changed = [
        state
        for state in states
        if state.t > fault and state.node != struck and state.cluster and state.cluster != _view(states, state, fault)
    ]
    if changed:
        first = min(changed, key=lambda state: state.t)
        return PhaseMoment(first.t, "cluster", f"{first.node} reports {first.cluster}")
    for evidence, signs in (("manager", manager), ("proxy", proxy), ("client", errors)):
        later = [sign for sign in signs if sign.t > fault]
        if later:
            earliest = min(later, key=lambda sign: sign.t)
            concluded = [sign for sign in later if any(words in sign.text for words in CONCLUDED)]
            if not concluded:
                return PhaseMoment(earliest.t, evidence, earliest.text)
            conclusion = min(concluded, key=lambda sign: sign.t)
            return PhaseMoment(conclusion.t, evidence, conclusion.text, suspected=earliest.t)
    return None


def _view(states: Sequence[State], of: State, fault: float) -> str:
    """The cluster's view reported by the node before the fault."""
    return next((s.cluster for s in reversed(states) if s.node == of.node and s.t <= fault and s.cluster), of.cluster)


def proxy_acted(signs: Sequence[Sign], *, fault: float, struck: str) -> Sign | None:
    """The proxy's first action after the fault: it dropped the affected node, or got another address for a server."""
    acted = [
        sign
        for sign in signs
        if sign.t > fault and ((f"/{struck} is " in sign.text and " is UP" not in sign.text) or ADDRESS in sign.text)
    ]
    return min(acted, key=lambda sign: sign.t, default=None)


def promoted(*, fault: float, recovered: float, states: Sequence[State], writer: str) -> PhaseMoment | None:
    """When `writer`, which acknowledged the first write after the outage, became writable (again).

    None when its polls show it writable throughout. Polls may lag the first write by one interval and miss a short
    state: then a new view of the cluster is the evidence.
    """
    own = [state for state in states if state.node == writer and state.before <= recovered]
    opened = [
        state
        for earlier, state in pairwise(own)
        if state.t > fault and state.writable and (not earlier.writable or state.cluster != earlier.cluster)
    ]
    if not opened:
        return None
    view = f": {opened[-1].cluster}" if opened[-1].cluster else ""
    return PhaseMoment(min(opened[-1].t, recovered), "node", f"until {writer} accepts writes{view}")


def rejoined(states: Sequence[State], *, node: str, since: float, until: float) -> float:
    """When `node`, thawed or healed at `since` and in sync by `until`, accepted statements again permanently.

    A cluster's node first shows its old view, until it learns that the others continued without it.
    """
    own = sorted((s for s in states if s.node == node and since <= s.t <= until), key=lambda state: state.t)
    serves = [state.answers and (state.writable or state.in_sync or not state.cluster) for state in own]
    if not any(serves):
        return until
    # The first state from which all accept statements.
    first = len(serves) - next((n for n, serving in enumerate(reversed(serves)) if not serving), len(serves))
    return own[first].t if first < len(own) else until


def baseline(
    writes: Sequence[Write], *, since: float, fault: float, recovered: float, until: float, rule: SteadyState
) -> float | None:
    """The earliest time from `recovered` on that starts `rule.seconds` consecutive seconds at the pre-fault level.

    A second is at that level when enough of the writes due in it were acknowledged, fast enough. None: never, or less
    than one second before the fault.
    """
    before = [write for write in writes if since <= write.due < fault]
    fine = [write.end - write.due for write in before if write.ok]
    if not fine or fault - since < 1:
        return None
    enough = rule.share * len(fine) / (fault - since)
    limit = rule.latency * statistics.median(fine)
    after = sorted((write for write in writes if write.due >= recovered - 1e-9), key=lambda write: write.due)
    dues = [write.due for write in after]
    for due in dues:
        if due + rule.seconds > until + 1e-9:
            return None
        edges = [bisect_left(dues, due + second - 1e-9) for second in range(rule.seconds + 1)]
        if all(_as_before(after[first:last], enough, limit) for first, last in pairwise(edges)):
            return due
    return None


def _as_before(writes: Sequence[Write], enough: float, limit: float) -> bool:
    """Whether the writes due within a second match the pre-fault level."""
    took = [write.end - write.due for write in writes if write.ok]
    # Rounded down: a schedule of 2.5 writes/s has seconds with two.
    return bool(took) and len(took) >= math.floor(enough) and statistics.median(took) <= limit
