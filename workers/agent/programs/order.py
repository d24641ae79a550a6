"""The command line of our programs: `python -m workers.agent.programs.NAME STEP --secrets …`."""

import argparse
import json
import signal
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import pymysql

from workers.agent.measure.database import error_text
from workers.agent.programs.report import Failed, Secrets, line, read_secrets


@dataclass(frozen=True)
class Order:
    """A step's arguments. `warmup` and `duration`, s; `rate`, 1/s; `work`: a directory for temporary files."""

    secrets_file: Path
    parameters: Mapping[str, Any]
    threads: int
    rate: float | None
    warmup: float
    duration: float

    @property
    def work(self) -> Path:
        return self.secrets_file.parent

    @property
    def secrets(self) -> Secrets:
        return read_secrets(self.secrets_file)


Step = Callable[[Order], None]


def arguments(step: str, order: Order) -> tuple[str, ...]:
    """The command line parsed by `read`."""
    found = [step, "--secrets", str(order.secrets_file), "--parameters", json.dumps(dict(order.parameters))]
    found += ["--threads", str(order.threads), "--warmup", f"{order.warmup:g}", "--duration", f"{order.duration:g}"]
    return (*found, *(["--rate", f"{order.rate:g}"] if order.rate is not None else []))


def read(argv: list[str]) -> tuple[str, Order]:
    parser = argparse.ArgumentParser()
    parser.add_argument("step")
    parser.add_argument("--secrets", type=Path, required=True)
    parser.add_argument("--parameters", type=json.loads, default={})
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rate", type=float)
    parser.add_argument("--warmup", type=float, default=0.0)
    parser.add_argument("--duration", type=float, default=0.0)
    given = parser.parse_args(argv)
    return given.step, Order(
        secrets_file=given.secrets,
        parameters=given.parameters,
        threads=given.threads,
        rate=given.rate,
        warmup=given.warmup,
        duration=given.duration,
    )


def obey(steps: Mapping[str, Step]) -> NoReturn:
    """The program's main: exit code 0, or 1 with the reason on a line that begins with FATAL."""
    # SIGTERM unwinds the stack, so that changes on the server are undone.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    step, order = read(sys.argv[1:])
    try:
        steps[step](order)
    except Failed as problem:
        line(f"FATAL: {problem}")
        sys.exit(1)
    except (pymysql.MySQLError, OSError) as error:
        line(f"FATAL: {error_text(error)}")
        sys.exit(1)
    sys.exit(0)
