"""The raw log: every observation, kept for the phases and printed as it arrives. All figures derive from it."""

import threading
from typing import Any

from workers.agent.faults.lanes import Attempt
from workers.agent.faults.phases import Sign, State, Write
from workers.agent.programs.report import emit


class Record:
    """Thread-safe."""

    def __init__(self) -> None:
        self.inserts: list[Attempt] = []
        self.onward: list[Attempt] = []  # inserts after the load
        self.reads: list[tuple[str, Attempt]] = []  # place and read
        self.states: list[State] = []
        self.manager: list[Sign] = []
        self.proxy: list[Sign] = []
        self._lock = threading.Lock()

    def insert(self, attempt: Attempt) -> None:
        with self._lock:
            self.inserts.append(attempt)
        _emit_attempt("insert", attempt)

    def insert_onward(self, attempt: Attempt) -> None:
        with self._lock:
            self.onward.append(attempt)
        _emit_attempt("insert", attempt, after_load=True)

    def read(self, place: str, attempt: Attempt) -> None:
        with self._lock:
            self.reads.append((place, attempt))
        _emit_attempt("read", attempt, at=place)

    def state(self, state: State) -> None:
        with self._lock:
            self.states.append(state)
        found = {"answers": state.answers, "writable": state.writable, "cluster": state.cluster}
        if state.in_sync:
            found["in_sync"] = True
        emit("probe", what="state", node=state.node, t=_rounded(state.t), before=_rounded(state.before), **found)

    def add_manager_sign(self, sign: Sign) -> None:
        with self._lock:
            self.manager.append(sign)
        emit("probe", what="manager", t=_rounded(sign.t), text=sign.text)

    def add_proxy_sign(self, sign: Sign) -> None:
        with self._lock:
            self.proxy.append(sign)
        emit("probe", what="proxy", t=_rounded(sign.t), text=sign.text)

    def ended(self, since: float, until: float) -> tuple[list[Attempt], list[Attempt]]:
        """Inserts and reads that ended in [`since`, `until`)."""
        with self._lock:
            inserts = [one for one in self.inserts if since <= one.end < until]
            return inserts, [one for _, one in self.reads if since <= one.end < until]

    def writes(self) -> list[Write]:
        """Every insert of the load once, with its last attempt's outcome."""
        return self._last_of(self.inserts)

    def writes_onward(self) -> list[Write]:
        """The same of those after the load."""
        return self._last_of(self.onward)

    def _last_of(self, attempts: list[Attempt]) -> list[Write]:
        last: dict[int, Attempt] = {}
        with self._lock:
            for one in attempts:
                known = last.get(one.sequence)
                if known is None or one.number > known.number:
                    last[one.sequence] = one
        return [Write(one.due, one.end, one.error is None, one.server) for one in last.values()]

    def errors(self) -> list[Sign]:
        return [Sign(one.end, f"the client: {one.error[0] or ''} {one.error[1]}") for one in self.inserts if one.error]

    def errors_by_kind(self, since: float, until: float) -> dict[tuple[int, str], list[float]]:
        """(code, text) -> rising end times of the failed attempts due in [`since`, `until`)."""
        found: dict[tuple[int, str], list[float]] = {}
        for one in sorted(self.inserts, key=lambda one: one.end):
            if one.error and since <= one.due < until:
                found.setdefault(one.error, []).append(one.end)
        return found

    def stale(self, since: float, until: float) -> list[tuple[str, Attempt]]:
        """Place and attempt of the stale reads due in [`since`, `until`), by end time."""
        found = [(at, one) for at, one in self.reads if since <= one.due < until and one.answer.get("stale")]
        return sorted(found, key=lambda read: read[1].end)


def _emit_attempt(what: str, one: Attempt, **more: Any) -> None:
    answer: dict[str, Any] = dict(one.answer) | more
    if one.error:
        answer["error"] = list(one.error)
    emit(
        "probe",
        what=what,
        seq=one.sequence,
        worker=one.worker,
        number=one.number,
        due=_rounded(one.due),
        start=_rounded(one.start),
        end=_rounded(one.end),
        ok=one.error is None,
        server=one.server,
        **answer,
    )


def _rounded(t: float) -> float:
    return round(t, 5)
