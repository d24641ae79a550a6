"""`splashboard run`: measure in blocks, keep and send each run, compare with the baseline."""

from __future__ import annotations

import json
import signal
import sys
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import FrameType
from typing import Any, Optional, Union

from splashboard import submitting
from splashboard.failures import Exit, Misuse, RequestRefused, ServerUnreachable
from splashboard.progress import duration
from splashboard.server import Server, printable
from splashboard.wrap import baseline, describe, machine, pending, redact, tools
from splashboard.wrap.measure import MeasuredCommand, MeasuredRun, measure
from splashboard.wrap.samples import ServerSampling
from splashboard.wrap.target import Target

# s that a measurement waits for a server that may be away; what is not sent is sent at the end.
SENT_WITHIN, ASKED_WITHIN = 10.0, 20.0
SEALED_WITHIN = 60.0
SYSBENCH_END = b"execution time (avg/stddev):"
SYSTEM = {"slug": str}
SYSTEMS = {"results": [SYSTEM], "next": (str, type(None))}


@dataclass
class BenchmarkPlan:
    """What was asked for. `levels`: threads, [None] where the command decides."""

    argv: Sequence[str]
    levels: Sequence[Optional[int]]
    repeat: int
    warmup: float
    system: describe.SystemOptions
    target: Optional[Target]
    format: Optional[str]
    workload: Optional[str]
    parameters: Mapping[str, Any]
    result: str
    session: Optional[str]
    tags: Sequence[str]
    baseline: Optional[str]
    tolerance: float


@dataclass
class BenchmarkSession:
    """The state of one call: what was stored, what waits, what went wrong."""

    plan: BenchmarkPlan
    server: Server
    sampling: Optional[ServerSampling] = None
    stated: Union[str, Mapping[str, Any]] = ""
    is_away: bool = False
    stored: list[dict[str, Any]] = field(default_factory=list)
    waiting: list[pending.PendingRun] = field(default_factory=list)
    refused: list[pending.PendingRun] = field(default_factory=list)
    repetitions: Counter[str] = field(default_factory=Counter)

    # ------------------------------------------------------------ before

    def prepare(self) -> None:
        """All that can be wrong is found before anything is measured. Raises Misuse, RequestRefused."""
        plan = self.plan
        tool = tools.find(plan.argv)
        problem = "" if plan.workload and plan.workload.isdecimal() else tools.problem_of(tool, plan.parameters)
        if problem:
            raise Misuse(problem)
        if plan.levels != [None] and tools.own_place(plan.argv) is not None and not tools.takes_threads(plan.argv):
            raise Misuse("--threads: write {threads} in the command where its number of threads stands")
        target = plan.target or (Target(user="", host=tool.host) if tool is not None and tool.host else None)
        if plan.target is not None:
            self.sampling = ServerSampling(plan.target)
        facts = self.sampling.facts if self.sampling else None
        self.stated = describe.system_of(plan.system, facts=facts, target=target, tool=tool)
        say(describe.words_of(self.stated))
        self._register()
        if plan.baseline and not self.is_away:
            self.find_baseline()

    def _register(self) -> None:
        """A system that the server refuses is told before the measurement."""
        self.server.timeout = ASKED_WITHIN
        try:
            if isinstance(self.stated, str):
                self._require_system(self.stated)
            else:
                body = json.dumps(self.stated).encode()
                self.server.send("systems/", body, kind="application/json", repeatable=True).json(SYSTEM)
        except ServerUnreachable as problem:
            self.is_away = True
            say(f"{problem}; what is measured is kept in {pending.folder()}")

    def _require_system(self, slug: str) -> None:
        place = "systems/?limit=500"
        while place:
            page = self.server.read(place).json(SYSTEMS)
            if any(each["slug"] == slug for each in page["results"]):
                return
            place = (page["next"] or "").partition("/api/v1/")[2]
        raise Misuse(f"--system: there is no system {slug!r}: see the Catalog page, or describe it by --dsn")

    def find_baseline(self) -> baseline.Baseline:
        """Raises Misuse, RequestRefused, ServerUnreachable."""
        stated = self.stated
        slug = describe.key_of(stated)
        variant = self.plan.system.variant or ""
        base = slug[: -len(machine.slug(variant)) - 1] if variant and not self.plan.system.system else slug
        platform = "" if isinstance(stated, str) else str(stated["platform"])
        return baseline.find(self.server, str(self.plan.baseline), system=slug, base=base, platform=platform)

    # ------------------------------------------------------------ measuring

    def measure(self) -> Exit:
        """FINE, or why it ended early: COMMAND, INTERRUPTED, USE."""
        plan = self.plan
        planned = tools.blocks(plan.levels, plan.repeat)
        began = time.monotonic()
        for number, (repetition, threads) in enumerate(planned):
            asked = tools.Asked(threads, plan.warmup)
            say(_progress(number, len(planned), repetition, threads, elapsed=time.monotonic() - began))
            argv = tools.adapted(plan.argv, asked)
            found = measure(
                argv,
                asked,
                sampling=self.sampling,
                schema=self._schema(),
                file=plan.result,
            )
            ended = self._keep(found, asked)
            if ended is not Exit.FINE:
                rest = len(planned) - number - 1
                if rest:
                    say(f"{rest} of {len(planned)} runs were not started")
                return ended
        return Exit.FINE

    def _schema(self) -> str:
        tool = tools.find(self.plan.argv)
        return (self.plan.target.schema if self.plan.target else "") or (tool.schema if tool else "")

    def _keep(self, found: MeasuredCommand, asked: tools.Asked) -> Exit:
        """Keeps and sends each run of a command."""
        reason = "interrupted" if found.interrupted else _reason(found.code)
        for each in found.runs:
            is_last = each is found.runs[-1]
            self._submit(each, found, asked, reason if is_last else "")
        if not found.runs:
            self._keep_unknown(found)
        if found.interrupted:
            return Exit.INTERRUPTED
        if found.code:
            say(f"the command failed: {reason}")
            return Exit.COMMAND
        if not found.runs:
            return Exit.USE
        printed = {each.stretch.threads for each in found.runs} - {None}
        if asked.threads is not None and printed and printed != {asked.threads}:
            say(
                f"--threads asked for {asked.threads}, the output says {', '.join(map(str, sorted(printed)))}: write "
                "{threads} in the command, or let the script use $SPLASHBOARD_THREADS"
            )
            return Exit.USE
        return Exit.FINE

    def _submit(self, run: MeasuredRun, found: MeasuredCommand, asked: tools.Asked, reason: str) -> None:
        passwords = [self.plan.target.password] if self.plan.target else []
        content = redact.output(run.stretch.content, passwords)
        description = self._description(run, asked, reason, redact.command(run.command, passwords))
        unknown = "" if "workload" in description else (
            "workload: not known, since no command line of a load tool was seen: give --workload ID, or --parameter "
            "NAME=VALUE for each of its parameters, as in `splashboard submit --pending --workload ID`"
        )
        kept = pending.keep(
            url=self.server.url,
            description=description,
            output=content,
            name="output",
            samples=run.samples,
            refused=unknown,
        )
        if unknown:
            self.refused.append(kept)
            say(f"kept in {kept.place}: {unknown}")
        else:
            self.send(kept)

    def _description(self, run: MeasuredRun, asked: tools.Asked, reason: str, command: str) -> dict[str, Any]:
        plan, stretch = self.plan, run.stretch
        facts = self.sampling.facts if self.sampling else {}
        kind = plan.format or (run.tool.format if run.tool and run.tool.format != "sysbench" else stretch.kind)
        workload = describe.workload_of(plan.workload, plan.parameters, run.tool, "")
        threads = stretch.threads or asked.threads or (run.tool.threads if run.tool else None)
        self.repetitions[f"{workload}, {threads}"] += 1
        description: dict[str, Any] = {
            "uid": run.uid,
            "format": kind,
            "system": self.stated,
            "started_at": run.started_at,
            "repetition": self.repetitions[f"{workload}, {threads}"],
            "tags": sorted({*plan.tags, *([plan.system.variant] if plan.system.variant else [])}),
            "command": command,
            "host": machine.facts(),
        }
        if workload is not None:
            description["workload"] = workload
        if stretch.threads is None and threads is not None:
            description["load_level"] = {"threads": threads}
        for name in ("server_version", "variables", "defaults"):
            if facts.get(name):
                description[name] = facts[name]
        if plan.system.server_version and "server_version" not in description:
            description["server_version"] = plan.system.server_version
        if run.data_bytes is not None:
            description["data_bytes"] = run.data_bytes
        if plan.session:
            description["session"] = plan.session
        is_failed = bool(reason)
        if stretch.format == "sysbench":
            is_complete = SYSBENCH_END in stretch.content
            is_failed = not is_complete
            reason = "; ".join(filter(None, (reason, stretch.fatal))) or "the final report of sysbench is missing"
            if stretch.checkpoint is not None:
                description["warmup"] = stretch.checkpoint
            elif plan.warmup and is_complete:
                say(
                    f"--warmup {plan.warmup:g}: the output has no checkpoint, so its totals cover the warm-up too and "
                    "none is stated: let the script pass --report-checkpoints=$SPLASHBOARD_WARMUP"
                )
        return {**description, "outcome": "failed", "reason": reason[:2000]} if is_failed else description

    def _keep_unknown(self, found: MeasuredCommand) -> None:
        """What no tool is known to print is kept too."""
        if not found.output.strip():
            say("the command printed nothing, and no file of results was named by --result")
            return
        passwords = [self.plan.target.password] if self.plan.target else []
        file = pending.folder().parent / f"output-{int(time.time())}.txt"
        pending.write_private(file, redact.output(found.output, passwords))
        say(
            f"no load tool is known by this output, kept in {file}: submit it with `splashboard submit`, --format and "
            "its description, or name the file of results by --result"
        )

    # ------------------------------------------------------------ sending

    def send(self, kept: pending.PendingRun) -> None:
        if self.is_away:
            self.waiting.append(kept)
            say(f"kept, not sent: {kept.place}")
            return
        self.server.timeout = SENT_WITHIN
        try:
            self.stored.append(kept.send(self.server, {}))
        except ServerUnreachable as problem:
            self.is_away = True
            self.waiting.append(kept)
            say(f"{problem}; the run is kept in {kept.place}")
        except RequestRefused as problem:
            self.refused.append(kept)
            say("\n  ".join([f"{problem}; the run is kept in {kept.place}", *problem.fields]))
        else:
            say("\n".join(submitting.sentences(self.stored[-1])))

    def send_waiting(self) -> None:
        """Once more, at the end."""
        waiting, self.waiting, self.is_away = self.waiting, [], False
        for kept in waiting:
            self.send(kept)

    # ------------------------------------------------------------ comparing

    def compare(self) -> Exit:
        """Raises Misuse, RequestRefused, ServerUnreachable."""
        runs = [each["id"] for each in self.stored if each["outcome"] == "succeeded"]
        if not runs:
            print("Verdict: cannot tell: no run succeeded")
            return Exit.CANNOT_TELL
        self.server.timeout = SEALED_WITHIN
        found = self.find_baseline()
        sealed = [self._sealed(run) for run in runs]
        codes = []
        for workload in dict.fromkeys(run["workload"]["id"] for run in sealed):
            own = [run["id"] for run in sealed if run["workload"]["id"] == workload]
            compared = baseline.compare(
                self.server,
                found,
                system=describe.key_of(self.stated),
                workload=workload,
                runs=own,
                tolerance=self.plan.tolerance,
            )
            print(f"Baseline: {found.words}, system {found.systems[0]}")
            for line in compared.lines:
                print(f"  {line}")
            for note in compared.notes:
                print(f"  Note: {note}")
            print(f"Verdict: {compared.sentence}\n{compared.address}")
            codes.append(compared.exit)
        return Exit.REGRESSION if Exit.REGRESSION in codes else max(codes)

    def _sealed(self, run: int) -> Mapping[str, Any]:
        until = time.monotonic() + SEALED_WITHIN
        while True:
            found = baseline.run(self.server, run)
            if found["state"] == "sealed" or time.monotonic() > until:
                return found
            time.sleep(0.5)


def run(plan: BenchmarkPlan, server: Server) -> Exit:
    """Raises Misuse, RequestRefused, ServerUnreachable; whatever was measured is then stored or kept."""
    session = BenchmarkSession(plan, server)
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _interrupt)
    try:
        session.prepare()
        ended = session.measure()
    finally:
        if session.sampling is not None:
            session.sampling.stop()
    session.send_waiting()
    if session.waiting:
        say("send what is kept by `splashboard submit --pending` once the server answers")
    code = ended
    if plan.baseline and not session.waiting and ended is not Exit.INTERRUPTED:
        verdict = session.compare()
        code = verdict if ended is Exit.FINE else ended
    if ended is Exit.FINE and session.refused:
        return Exit.REFUSED
    return Exit.UNREACHABLE if ended is Exit.FINE and session.waiting else code


def send_pending(server: Server, changes: Mapping[str, Any]) -> Exit:
    """Sends what earlier calls kept. The code is that of the worst."""
    kept = pending.every()
    print(f"{len(kept)} pending run{'' if len(kept) == 1 else 's'} in {pending.folder()}")
    code = Exit.FINE
    for each in kept:
        if each.state["url"] != server.url:
            print(f"{each.place.name}: measured for {each.state['url']}, not {server.url}: left")
            continue
        try:
            found = each.send(server, changes)
        except RequestRefused as problem:
            code = Exit.REFUSED
            print("\n  ".join([f"{each.place.name}: {problem}; kept", *problem.fields]))
        else:
            print("\n".join(submitting.sentences(found)))
    return code


def say(words: str) -> None:
    """To people, beside the output of the command."""
    try:
        print(printable(words), file=sys.stderr, flush=True)
    except OSError:
        return  # nobody reads


def _progress(done: int, all_: int, repetition: int, threads: Optional[int], *, elapsed: float) -> str:
    at = "" if threads is None else f", {threads} thread{'' if threads == 1 else 's'}"
    left = f", about {duration(elapsed / done * (all_ - done))} left" if done else ""
    words = f"run {done + 1} of {all_}: repetition {repetition}{at}{left}"
    if not sys.stderr.isatty():
        return words
    full, empty = ("█", "░") if "utf" in (sys.stderr.encoding or "").lower() else ("#", ".")
    share = round(20 * done / all_)
    return f"{full * share}{empty * (20 - share)} {words}"


def _reason(code: int) -> str:
    if code < 0:
        try:
            return f"ended by {signal.Signals(-code).name}"
        except ValueError:
            return f"ended by signal {-code}"
    return f"exit code {code}" if code else ""


def _interrupt(_signal: int, _frame: Optional[FrameType]) -> None:
    raise KeyboardInterrupt
