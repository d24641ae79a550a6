"""From what was seen to the phases of a failover. Pure; all times in s on the probe's clock."""

import math
import statistics
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

# A gap of up to so many probe intervals is no interruption; nor is one, without a failed write, of up to so many times
# the longest before the fault.
INTERVALS = 3
TIMES_BEFORE = 2
SILENT = ("kill", "freeze", "cut")  # after these the struck node says no more
# How MHA's manager, and a lab's, conclude that the source is gone. All that they say before is suspicion: MHA pings
# three more times and asks the other servers.
CONCLUDED = ("Master is down!", '"event": "detected"')
ADDRESS = " address is "  # how a sign of the proxy says that a server is another one now


@dataclass(frozen=True)
class Write:
    """An insert that was due at `due` and ended at `end`, acknowledged by `server` or failed."""

    due: float
    end: float
    ok: bool
    server: str = ""


@dataclass(frozen=True)
class State:
    """A node's state from `t` on; at `before` it was still another. `cluster`: Galera's view, "" without one."""

    t: float
    before: float
    node: str
    answers: bool
    writable: bool
    cluster: str = ""


@dataclass(frozen=True)
class Sign:
    """What a manager or a proxy said at `t`."""

    t: float
    text: str


@dataclass(frozen=True)
class Gap:
    """No write was acknowledged from `start` to `end`; None: nor until the probe ended at `until`."""

    start: float
    end: float | None
    until: float

    @property
    def length(self) -> float:
        return (self.until if self.end is None else self.end) - self.start


@dataclass(frozen=True)
class PhaseMoment:
    """When something happened, and by which evidence that is known. `suspected`: when the same saw its first sign."""

    t: float
    evidence: str
    text: str
    suspected: float | None = None


@dataclass(frozen=True)
class SteadyState:
    """What counts as back to baseline; docs/reference/failover.md tells the rule."""

    seconds: int = 3
    share: float = 0.9
    latency: float = 3.0


def gaps(writes: Sequence[Write], *, start: float, until: float) -> list[Gap]:
    """Between acknowledged writes, the time before the first and after the last included.

    `until`: when the last write was due; what is acknowledged after it closes the last gap.
    """
    ends = sorted(write.end for write in writes if write.ok)
    found = [Gap(earlier, later, until) for earlier, later in zip([start, *ends], ends, strict=False)]
    last = ends[-1] if ends else start
    return [*found, Gap(last, None, until)] if until > last else found


def outage(writes: Sequence[Write], *, fault: float, start: float, until: float) -> Gap | None:
    """The longest gap that was still open at the fault or came after it; None when there was no write at all."""
    after = [gap for gap in gaps(writes, start=start, until=until) if gap.end is None or gap.end > fault]
    return max(after, key=lambda gap: gap.length, default=None)


def is_interruption(gap: Gap, writes: Sequence[Write], *, fault: float, start: float, interval: float) -> bool:
    """Whether writes failed in `gap`, or it stands out from those that the healthy system shows from `start` on."""
    if gap.length <= INTERVALS * interval:
        return False
    end = gap.until if gap.end is None else gap.end
    if any(not write.ok and gap.start <= write.end <= end for write in writes):
        return True
    usual = [one.length for one in gaps(writes, start=start, until=fault) if one.end is not None and one.end <= fault]
    return gap.length > TIMES_BEFORE * max(usual, default=0.0)


def moment(control: str, began: float, ended: float, states: Sequence[State], node: str) -> float:
    """When the fault came, of a control that ran from `began` to `ended`: the struck node's last answer.

    The others come with the control's beginning, as a stop does, which the node answers for some time still.
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
    """When the system noticed: the cluster by its own view, else its manager, else its proxy, else the client."""
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
    """What the node reported before the fault."""
    return next((s.cluster for s in reversed(states) if s.node == of.node and s.t <= fault and s.cluster), of.cluster)


def proxy_acted(signs: Sequence[Sign], *, fault: float, struck: str) -> Sign | None:
    """The first that the proxy did after the fault: it gave up the struck node, or was led to another."""
    acted = [
        sign
        for sign in signs
        if sign.t > fault and ((f"/{struck} is " in sign.text and " is UP" not in sign.text) or ADDRESS in sign.text)
    ]
    return min(acted, key=lambda sign: sign.t, default=None)


def promoted(*, fault: float, recovered: float, states: Sequence[State], writer: str) -> PhaseMoment | None:
    """When `writer`, who acknowledged the first write after the outage, could take writes again or for the first time.

    None when it could all along, as seen from its polls. They may lag the first write by a poll, and miss a state that
    was short: then a new view of the cluster is the evidence.
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
    """When `node`, thawed or healed at `since` and known to be in step at `until`, served again for good.

    One of Galera's first shows the view that it had before, until it learns that the others went on without it.
    """
    own = sorted((s for s in states if s.node == node and since <= s.t <= until), key=lambda state: state.t)
    serves = [state.answers and (state.writable or not state.cluster) for state in own]
    if not any(serves):
        return until
    # From its end, the first of the states that all serve.
    first = len(serves) - next((n for n, serving in enumerate(reversed(serves)) if not serving), len(serves))
    return own[first].t if first < len(own) else until


def baseline(
    writes: Sequence[Write], *, since: float, fault: float, recovered: float, until: float, rule: SteadyState
) -> float | None:
    """The first moment, from `recovered` on, after which `rule.seconds` seconds in a row were as before the fault.

    A second is as before when of the writes due in it enough were acknowledged, and fast enough. None: never, or there
    was no second before the fault.
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
    """Of the writes due within a second."""
    took = [write.end - write.due for write in writes if write.ok]
    # Rounded down: a schedule of 2.5 writes/s has seconds with two.
    return bool(took) and len(took) >= math.floor(enough) and statistics.median(took) <= limit
