"""Command `attach`: adds series of Prometheus to a run."""

from __future__ import annotations

import argparse
import getpass
import os
import sys
import time
from collections.abc import Callable, Mapping
from datetime import datetime, timezone
from typing import Any

from splashboard import files
from splashboard.answers.attached import AttachedSeries
from splashboard.answers.runs import NodeDetail, RunDetail
from splashboard.failures import Exit, Failure, Misuse, RequestRefused, ServerUnreachable
from splashboard.prometheus.collect import Collected, NodeTargets, collect, hosts
from splashboard.prometheus.source import Access, PrometheusSource, PrometheusTrouble
from splashboard.server import Server
from splashboard.shapes import part

PASSWORD, BEARER = "SPLASHBOARD_PROMETHEUS_PASSWORD", "SPLASHBOARD_PROMETHEUS_BEARER"
CLOCKS_DIFFER = 1.0  # s
KIND = "application/gzip"
RUN = part(RunDetail, "id state started_at ended_at", nodes=[part(NodeDetail, "name")])
# Options that a program need not state.
DEFAULTS: dict[str, Any] = {
    **dict.fromkeys(("user", "password_file", "bearer_file", "tenant", "ca", "save"), ""),
    "insecure": False,
}
DONE = part(AttachedSeries, "run artifact nodes warnings")


def add_command(commands: Any, command: Callable[..., Any], *, connect: Any, show: Any) -> None:
    """`command`, `connect`, `show`: those of cli."""

    def run(options: argparse.Namespace) -> int:
        done = attach(connect(options), options)
        if done is not None:
            show(done, sentences(done), as_json=options.json)
        return Exit.FINE

    words = "attach series of Prometheus, VictoriaMetrics, Mimir or PMM to a complete run"
    attaching = command(commands, "attach", words, run, timeout="deadline for each answer, s (default 60)")
    add = attaching.add_argument
    add("run", type=int, metavar="RUN", help="number of the run")
    add("--prometheus", metavar="URL", help="address, with its prefix: http://prometheus:9090, https://pmm/prometheus")
    add(
        "--node",
        action="append",
        default=[],
        metavar="NAME=INSTANCE",
        help='series of a node: host, host:port or {label="value"}, several with commas; '
        "default: the run's only node, and the only host in Prometheus; may be repeated",
    )
    add("--match", default="", metavar="REGEX", help="only series whose names match (default: all of the instances)")
    add(
        "--step",
        type=_step,
        metavar="S",
        help="values each S seconds by query_range (default: every sample as scraped)",
    )
    add("--user", default="", help=f"for basic authentication; password: {PASSWORD}, --password-file, or asked for")
    add("--password-file", metavar="FILE")
    add("--bearer-file", metavar="FILE", help=f"file with a bearer token (default: {BEARER})")
    add("--tenant", default="", metavar="ID", help="Mimir's tenant (X-Scope-OrgID)")
    add("--ca", default="", metavar="FILE", help="certificates to trust (default: the system's)")
    add("--insecure", action="store_true", help="trust any certificate")
    add("--save", metavar="FILE", help="write the series to FILE and attach nothing")
    add("--file", metavar="FILE", help="attach a file that --save wrote, instead of asking Prometheus")
    add("--json", action="store_true", help="print the server's answer")


def attach(server: Server, options: argparse.Namespace) -> dict[str, Any] | None:
    """The server's answer; None: saved only. Raises Failure."""
    if bool(options.file) == bool(options.prometheus):
        raise Misuse("where are the series? Give --prometheus URL, or --file FILE that --save wrote")
    content = files.read(options.file) if options.file else _fetch(server, options)
    if options.save:
        files.write_bytes(options.save, content)
        print(f"written to {options.save}", file=sys.stderr)
        return None
    # Sent again, it is found to be attached already.
    answer = server.send(f"runs/{options.run}/series/", content, kind=KIND, repeatable=True)
    done: dict[str, Any] = answer.json(DONE)
    return done


def sentences(done: Mapping[str, Any]) -> list[str]:
    texts = [f"Run {done['run']}: {done['artifact']} is attached"]
    for node in done["nodes"]:
        known = f"; {node['known']} it had already" if node["known"] else ""
        texts.append(
            f"  {node['name']}: {len(node['metrics'])} metrics, {node['own']} series under their own names{known}; "
            f"a sample each {node['interval']:g} s"
        )
    return texts + [f"  {warning}" for warning in done["warnings"]]


def _fetch(server: Server, options: argparse.Namespace) -> bytes:
    targets = _targets(options.node)
    run = server.read(f"runs/{options.run}/").json(RUN)
    if run["ended_at"] is None or run["state"] != "sealed":
        raise Misuse(f"run {options.run} is not complete yet: attach its series afterwards")
    begin, end = _seconds(run["started_at"]), _seconds(run["ended_at"])
    try:
        source = PrometheusSource(_access(options))
        _warn_of_clocks(source)
        if not any(target.instances for target in targets):
            _require_one_host(source, targets[0].selectors(options.match)[0], begin=begin, end=end)
        found = collect(
            source, targets, begin=begin, end=end, match=options.match, step=options.step, on_progress=_progress
        )
    except PrometheusTrouble as trouble:
        raise _failure(trouble) from trouble
    _require_samples(found, begin=begin, end=end, options=options)
    return found.content


def _targets(stated: list[str]) -> list[NodeTargets]:
    """Raises Misuse."""
    found = []
    for text in stated:
        name, equals, instances = text.partition("=")
        if not equals or not name.strip() or not instances.strip():
            raise Misuse(f"--node {text!r} names no instance: write it as --node db1=10.0.0.1:9100")
        # A selector contains commas of its own.
        several = [instances] if instances.startswith("{") else instances.split(",")
        found.append(NodeTargets(name.strip(), tuple(one.strip() for one in several if one.strip())))
    return found or [NodeTargets("")]


def _access(options: argparse.Namespace) -> Access:
    """Raises Misuse."""
    if options.insecure:
        print("warning: any certificate is trusted (--insecure): others may read the credentials", file=sys.stderr)
    bearer = _text(options.bearer_file) if options.bearer_file else os.environ.get(BEARER, "").strip()
    password = ""
    if options.user:
        bearer = _text(options.bearer_file) if options.bearer_file else ""
        if options.password_file:
            password = _text(options.password_file)
        elif PASSWORD in os.environ:
            password = os.environ[PASSWORD]
        elif sys.stdin is not None and sys.stdin.isatty():
            password = getpass.getpass(f"password of {options.user}: ")
        else:
            raise Misuse(f"which password has {options.user}? Set {PASSWORD}, or give --password-file")
    elif options.password_file:
        raise Misuse("--password-file needs --user")
    return Access(
        url=options.prometheus,
        user=options.user,
        password=password,
        bearer=bearer,
        tenant=options.tenant,
        ca=options.ca,
        insecure=options.insecure,
        timeout=options.timeout or 60.0,
    )


def _text(path: str) -> str:
    return files.read(path).decode("utf-8", "replace").strip("\r\n ")


def _warn_of_clocks(source: PrometheusSource) -> None:
    asked = time.time()
    there = source.now()
    answered = time.time()
    apart = there - answered if there > answered else asked - there
    if apart > CLOCKS_DIFFER:
        way = "ahead of" if there > answered else "behind"
        print(f"warning: Prometheus' clock is {apart:.1f} s {way} that of this machine", file=sys.stderr)


def _require_one_host(source: PrometheusSource, selector: str, *, begin: float, end: float) -> None:
    found = hosts(source.labels_of(selector, begin=begin, end=end))
    if len(found) > 1:
        scraped = hosts(source.scraped(begin=begin, end=end))
        found = [host for host in found if host in scraped] or found
    if len(found) > 1:
        listed = ", ".join(found[:8]) + (", …" if len(found) > 8 else "")
        raise Misuse(
            f"Prometheus has series of {len(found)} hosts: {listed}. Which is which node? --node NAME=INSTANCE"
        )


def _require_samples(found: Collected, *, begin: float, end: float, options: argparse.Namespace) -> None:
    if found.first is not None and found.last is not None and found.first <= end and found.last >= begin:
        return
    times = f"{_words(begin)} to {_words(end)} UTC"
    named = " of these nodes" if options.node else ""
    raise Misuse(
        f"Prometheus has no sample{named} in the run's time, {times}: compare its targets, --node, --match and the "
        "clocks of both"
    )


def _failure(trouble: PrometheusTrouble) -> Failure:
    words = str(trouble)
    if trouble.status is None:
        return ServerUnreachable(words)
    return Misuse(words) if trouble.status == 400 else RequestRefused(words, status=trouble.status)


def _progress(words: str) -> None:
    if sys.stderr.isatty():
        print(f"read from Prometheus: {words}", file=sys.stderr)


def _seconds(moment: str) -> float:
    return datetime.fromisoformat(moment.replace("Z", "+00:00")).timestamp()


def _words(moment: float) -> str:
    return datetime.fromtimestamp(moment, timezone.utc).strftime("%Y-%m-%d %H:%M:%S")


def _step(text: str) -> float:
    step = float(text)
    if not 0.1 <= step <= 3600:
        raise ValueError
    return step


_step.__name__ = "number of seconds"  # argparse prints it
