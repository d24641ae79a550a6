"""The command line: `run`, `check`, and `failover`, which may serve as a system's `switch` control."""

import argparse
import logging
import signal
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import FrameType

from workers.agent import __version__
from workers.agent.check import check
from workers.agent.faults import measured_elsewhere
from workers.agent.faults.measured_elsewhere import MeasuredFailover
from workers.agent.programs import beside
from workers.agent.runtime.client import LeaseGone, Rejected, ServerClient, Unreachable
from workers.agent.runtime.config import Config, load
from workers.agent.runtime.enrol import NotEnrolled, enrol
from workers.agent.runtime.loop import AgentLoop
from workers.agent.runtime.spool import SpoolInUse
from workers.agent.runtime.toml_table import ConfigError
from workers.protocol import wire

CANNOT_START = 2


def main(arguments: Sequence[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    logging.basicConfig(
        level=logging.DEBUG if options.verbose else logging.INFO,
        format="{asctime} {levelname} {name}: {message}",
        style="{",
        stream=sys.stderr,
    )
    # httpx logs every request, httpcore every byte.
    for name in ("httpx", "httpcore"):
        logging.getLogger(name).setLevel(logging.WARNING)
    if options.command in WITHOUT_CONFIGURATION:
        return WITHOUT_CONFIGURATION[options.command](options)
    try:
        config = load(options.config)
        if options.command == "check":
            lines = check(config, server_only=options.server_only)
            for well, sentence in lines:
                print(f"{'ok     ' if well else 'PROBLEM'} {sentence}")
            return 0 if all(well for well, _ in lines) else 1
        if options.command == "failover":
            return _fail_over(config, options.system, options.target)
        agent = AgentLoop(config)
    except (ConfigError, SpoolInUse) as problem:
        print(problem, file=sys.stderr)
        return CANNOT_START
    except OSError as error:
        print(f"the agent cannot use its spool: {error}; set agent.spool to a directory it may write", file=sys.stderr)
        return CANNOT_START

    def stop(_signal: int, _frame: FrameType | None) -> None:
        # In its own thread: the interrupted main thread may hold the locks that `stop` needs.
        threading.Thread(target=agent.stop, name="stop").start()

    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)
    agent.run()
    return 0


def _enrol(options: argparse.Namespace) -> int:
    try:
        enrol(url=options.server, code=options.code, name=options.name, token_file=options.token_file)
    except NotEnrolled as problem:
        print(f"not enrolled: {problem}", file=sys.stderr)
        return 1
    print(f"enrolled as {options.name}; its secret is in {options.token_file}: name that file in the configuration")
    return 0


def _report(options: argparse.Namespace) -> int:
    try:
        if options.of == "failover":
            known = MeasuredFailover(
                fault=options.fault,
                at=options.fault_at,
                node=options.node,
                states=options.states,
                manager=options.manager,
                proxy=options.proxy,
            )
            measured_elsewhere.failover(options.attempts, known)
        else:
            measured_elsewhere.schema_change(
                options.attempts, statement=options.statement, began=options.began, ended=options.ended
            )
    except (measured_elsewhere.NotMeasured, OSError) as problem:
        print(f"no report: {problem}", file=sys.stderr)
        return 1
    return 0


# Commands that need no agent's file.
WITHOUT_CONFIGURATION: Mapping[str, Callable[[argparse.Namespace], int]] = {
    "enrol": _enrol,
    "report": _report,
    "sample": lambda _: beside.main(),
}


def _fail_over(config: Config, system: str, target: str) -> int:
    """Requests a failover at AWS through the server; 0 when AWS has accepted it."""
    client = ServerClient(url=config.url, token=config.token)
    try:
        answer = client.fail_over(system, wire.FailoverMessage(target=target))
    except (Unreachable, Rejected, LeaseGone) as problem:
        print(f"no failover of {system}: {problem}", file=sys.stderr)
        return 1
    finally:
        client.close()
    print(wire.to_json(answer).decode())
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="splashboard-agent", description="Runs benchmarks planned by a Splashboard.")
    parser.add_argument("--version", action="version", version=__version__)
    commands = parser.add_subparsers(dest="command", required=True)
    for name, words in (
        ("run", "execute jobs until stopped"),
        ("check", "report what is reachable, change nothing"),
        ("failover", "request a failover at AWS from the server, during a job"),
    ):
        command = commands.add_parser(name, help=words, description=words)
        command.add_argument("--verbose", action="store_true", help="log more")
        command.add_argument("--config", type=Path, required=True, help="configuration file (TOML)")
        if name == "check":
            command.add_argument("--server-only", action="store_true", help="without the tools and the databases")
        if name == "failover":
            command.add_argument("system", help="slug of a system at AWS on which this agent runs a job")
            command.add_argument("--target", default="", help="instance to become the writer; AWS chooses otherwise")
    _add_report(commands)
    words = "sample a server beside a command; for `splashboard run`, which speaks to it"
    sample = commands.add_parser("sample", help=words, description=words)
    sample.add_argument("--verbose", action="store_true", help="log more")
    words = "fetch a new agent's secret with a one-time code"
    command = commands.add_parser("enrol", help=words, description=words)
    command.add_argument("--verbose", action="store_true", help="log more")
    command.add_argument("--server", required=True, help="its address")
    command.add_argument("--code", required=True, help="made by an administrator on the page Agents; works once")
    command.add_argument("--name", required=True, help="of the agent: letters, digits, '-' and '_'")
    command.add_argument("--token-file", type=Path, default=Path("agent.token"), help="new file for the secret")
    return parser


def _add_report(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    words = "print the report of a failover or schema change that was measured elsewhere, to be submitted"
    command = commands.add_parser("report", help=words, description=words)
    command.add_argument("--verbose", action="store_true", help="log more")
    kinds = command.add_subparsers(dest="of", required=True)
    for name in ("failover", "schema-change"):
        kind = kinds.add_parser(name)
        kind.add_argument("attempts", type=Path, help=f"CSV of a client's attempts: {measured_elsewhere.COLUMNS}")
        if name == "failover":
            kind.add_argument("--fault", required=True, help="such as kill_writer, freeze_reader, switch")
            kind.add_argument("--fault-at", required=True, help="when, as in the CSV")
            kind.add_argument("--node", default="", help="the struck one")
            kind.add_argument("--states", type=Path, help="CSV of nodes' states: t, node, answers, writable, cluster")
            kind.add_argument("--manager", type=Path, help="log of MHA's or another manager")
            kind.add_argument("--proxy", type=Path, help="log of HAProxy")
        else:
            kind.add_argument("--statement", required=True, help="the ALTER")
            kind.add_argument("--from", dest="began", required=True, help="when it was sent, as in the CSV")
            kind.add_argument("--to", dest="ended", required=True, help="when it had ended")
