"""`splashboard run`: measure in blocks, keep and send each run, compare with the baseline."""

from __future__ import annotations

import json
import signal
import sys
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from splashboard import submitting
from splashboard.failures import Exit, Misuse, RequestRefused, ServerUnreachable
from splashboard.progress import duration
from splashboard.server import Server, printable
from splashboard.wrap import baseline, describe, machine, pending, redact, tools
from splashboard.wrap.interrupts import Interrupts
from splashboard.wrap.measure import MeasuredCommand, WrappedRun, measure
from splashboard.wrap.plan import BenchmarkPlan
from splashboard.wrap.samples import SamplingFailed, ServerSampling
from splashboard.wrap.target import LoadedServer

# s that a measurement waits for a server that may be away; what is not sent is sent at the end.
SENT_WITHIN, ASKED_WITHIN = 10.0, 20.0
SEALED_WITHIN = 60.0
NO_LOG = (
    "the run is sent without pgbench's log, which was not found, is empty or has more than 64 MiB: let pgbench "
    "--aggregate-interval=1 shorten it"
)
# Shown of each run, as far as its tool prints them.
FIGURES = (
    *("client.throughput", "client.events", "client.rows", "client.new_orders.per_minute", "client.memory_mib"),
    *(
        "client.file_requests",
        "client.execution_time.avg",
        "client.latency.avg",
        "client.latency.p95",
        "client.latency.p99",
        "client.errors",
    ),
)
NO_ACCESS = (401, 403)
SYSTEM = {"slug": str}
SYSTEMS = {"results": [SYSTEM], "next": (str, type(None))}


@dataclass
class BenchmarkSession:
    """The state of one call: what was stored, what waits, what went wrong."""

    plan: BenchmarkPlan
    server: Server
    sampling: ServerSampling | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)
    stated: str | Mapping[str, Any] = ""
    is_away: bool = False
    stored: list[dict[str, Any]] = field(default_factory=list)
    waiting: list[pending.PendingRun] = field(default_factory=list)
    refused: list[pending.PendingRun] = field(default_factory=list)
    repetitions: Counter[str] = field(default_factory=Counter)
    interrupts: Interrupts = field(default_factory=Interrupts)

    def __post_init__(self) -> None:
        self._longest = self.server.timeout

    def _within(self, seconds: float) -> None:
        """Of the next answers, unless --timeout states it."""
        self.server.timeout = self._longest if self.plan.timeout is not None else min(self._longest, seconds)

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
        target = plan.target or describe.target_of(tool)
        asked = target if plan.target is not None or not tools.is_carried(plan.argv) else None
        facts = describe.facts_of(asked)
        if target is not None and facts.get("host") and not target.host:
            target = replace(target, host=facts["host"])  # a service's, say
        self.sampling = self._sampling(target if facts else None)
        self.facts = facts or (self.sampling.facts if self.sampling else {})
        self.stated = describe.system_of(plan.system, facts=self.facts, target=target, tool=tool)
        say(describe.words_of(self.stated))
        self._register()
        if plan.baseline and not self.is_away:
            self.find_baseline()

    def _sampling(self, known: LoadedServer | None) -> ServerSampling | None:
        """`known`: a server that answered. Raises Misuse where one was stated."""
        stated = self.plan.target
        try:
            if stated is not None:
                return ServerSampling(known or stated)
            return ServerSampling(known) if known is not None and self.plan.samples else None
        except SamplingFailed as problem:
            if stated is not None:
                raise Misuse(f"--dsn: {problem}: correct it, or leave it out") from problem
            say(f"The server is not sampled: {problem}")
            return None

    def _register(self) -> None:
        """A system that the server refuses is reported before the measurement."""
        self._within(ASKED_WITHIN)
        try:
            if isinstance(self.stated, str):
                self._require_system(self.stated)
            else:
                body = json.dumps(self.stated).encode()
                self.server.send("systems/", body, kind="application/json", repeatable=True).json(SYSTEM)
        except RequestRefused as problem:
            if any(each.field == "hardware_class" for each in problem.problems):
                raise Misuse(f"--hardware: {problem}; here: by --cpus N and --memory GIB") from problem
            if problem.status != 409:
                raise
            remedy = "what differs needs a name of its own: give --variant NAME, or another --system"
            raise Misuse("\n  ".join([f"--system: {problem}: {remedy}", *problem.fields])) from problem
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

    def find_baseline(self) -> baseline.BaselineRuns:
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
                interrupts=self.interrupts,
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
            self._submit(each, asked, reason if is_last else "")
        if not found.runs:
            self._keep_unknown(found)
        if found.interrupted or self.interrupts.came:
            return Exit.INTERRUPTED
        if found.code:
            say(f"the command failed: {reason}")
            return Exit.COMMAND
        if not found.runs:
            return Exit.USE
        if self.refused:  # as the next ones would be
            return Exit.REFUSED
        printed = {each.stretch.threads for each in found.runs if each.stretch.threads is not None}
        if asked.threads is not None and printed and printed != {asked.threads}:
            say(
                f"--threads asked for {asked.threads}, the output says {', '.join(map(str, sorted(printed)))}: write "
                "{threads} in the command, or let the script use $SPLASHBOARD_THREADS"
            )
            return Exit.USE
        return Exit.FINE

    def _submit(self, run: WrappedRun, asked: tools.Asked, reason: str) -> None:
        described = describe.run_of(
            self.plan,
            run,
            asked,
            stated=self.stated,
            facts=self.facts,
            repetitions=self.repetitions,
            reason=reason,
        )
        for note in [*described.notes, *([] if run.series or not (run.tool and run.tool.log) else [NO_LOG])]:
            say(note)
        kept = pending.keep(
            url=self.server.url,
            description=described.description,
            output=redact.output(run.stretch.content, self.plan.passwords),
            name="output",
            samples=run.samples,
            series=run.series,
            refused=described.problem,
        )
        if described.problem:
            self.refused.append(kept)
            say(f"kept in {kept.place}: {described.problem}")
        else:
            self.send(kept)

    def _keep_unknown(self, found: MeasuredCommand) -> None:
        """What no tool is known to print is kept too."""
        if not found.output.strip():
            say("the command printed nothing, and no file of results was named by --result")
            return
        file = pending.folder().parent / f"output-{int(time.time())}.txt"
        pending.write_private(file, redact.output(found.output, self.plan.passwords))
        say(
            f"no load tool is known by this output, kept in {file}: submit it with `splashboard submit`, --format and "
            "its description, or name the file of results by --result"
        )

    # ------------------------------------------------------------ sending

    def send(self, kept: pending.PendingRun, *, is_last_try: bool = False) -> None:
        if self.is_away:
            self.waiting.append(kept)
            say(f"kept, not sent: {kept.place}")
            return
        self._within(self._longest if is_last_try else SENT_WITHIN)
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
            for line in _stored(self.stored[-1]):
                say(line)

    def send_waiting(self) -> None:
        """Once more, at the end."""
        waiting, self.waiting, self.is_away = self.waiting, [], False
        for kept in waiting:
            self.send(kept, is_last_try=True)

    # ------------------------------------------------------------ comparing

    def compare(self) -> Exit:
        """Raises Misuse, RequestRefused, ServerUnreachable."""
        runs = [each["id"] for each in self.stored if each["outcome"] == "succeeded"]
        if not runs:
            print("Verdict: cannot tell: no run succeeded")
            return Exit.CANNOT_TELL
        self._within(SEALED_WITHIN)
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
    with session.interrupts.watched():
        try:
            with session.interrupts.allowed():
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


def send_pending(server: Server, options: Mapping[str, Any]) -> Exit:
    """Sends what earlier calls kept; `options` change what was refused. The code is that of the worst."""
    kept = pending.every()
    changes = submitting.describe({}, options)
    print(f"{len(kept)} pending run{'' if len(kept) == 1 else 's'} in {pending.folder()}")
    code = Exit.FINE
    for each in kept:
        if each.state["url"] != server.url:
            print(f"{each.place.name}: measured for {each.state['url']}, not {server.url}: left")
            continue
        if changes and not each.state["refused"]:
            print(f"{each.place.name}: was not refused, so it is sent as it was measured")
        try:
            found = each.send(server, options)
        except RequestRefused as problem:
            if problem.status in NO_ACCESS:
                raise
            code = Exit.REFUSED
            print("\n  ".join([f"{each.place.name}: {problem}; kept", *problem.fields]))
        else:
            print("\n".join(submitting.sentences(found)))
    return code


def _stored(run: Mapping[str, Any]) -> list[str]:
    """One line with the usual figures, and what is to be known of the run."""
    values = {each["metric"]: f"{each['value']:g} {each['unit']}" for each in run["measurements"]}
    figures = [f"{name.rpartition('client.')[2]} {values[name]}" for name in FIGURES if name in values]
    failed = [run["outcome"] + (f": {run['reason']}" if run["reason"] else "")] if run["outcome"] != "succeeded" else []
    unread = [f"{run['unparsed_lines']} lines were not parsed"] if run["unparsed_lines"] else []
    return [f"Run {run['id']}: {', '.join([*failed, *figures, *unread])}  {run['address']}", *run["warnings"]]


def say(words: str) -> None:
    """To people, beside the output of the command."""
    try:
        print(printable(words), file=sys.stderr, flush=True)
    except OSError:
        return  # nobody reads


def _progress(done: int, all_: int, repetition: int, threads: int | None, *, elapsed: float) -> str:
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
