"""Searches one target with Atheris, in a process of its own: libFuzzer ends it itself.

A failure does not end the search: its input is kept once for each place in the code, in the folder `failures`.
"""

import hashlib
import shlex
import sys
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path

import atheris

# Instrumented, so that new lines of theirs count as found. Compiled loops cannot be.
OURS = ["apps.core", "apps.dispatch.campaigns", "apps.dispatch.schedules", "apps.published"]
OURS += ["apps.rest.framework.bodies", "apps.rest.prometheus", "apps.runs", "workers.agent.prometheus"]
OURS += ["workers.agent.samplers", "workers.protocol", "yaml", "zipfile", "tarfile", "django.http.multipartparser"]
EXCEPT = ["apps.runs.samples.loops", "apps.runs.samples.kernels"]


def main(name: str, options: Sequence[str]) -> None:
    import django  # noqa: PLC0415

    with atheris.instrument_imports(include=OURS, exclude=EXCEPT):
        django.setup()
        from tests.fuzz import places  # noqa: PLC0415
        from tests.fuzz.targets import TARGETS, attempt  # noqa: PLC0415
    target = TARGETS[name]
    read: Callable[[bytes], object] = lambda content: attempt(target, content)  # noqa: E731
    if target.database:
        read = _rolled_back(read)
    failures = places.work(name) / "failures"
    failures.mkdir(parents=True, exist_ok=True)
    seen: set[str] = set()

    def once(content: bytes) -> None:
        try:
            read(content)
        except Exception as error:
            where = _place(error)
            if where not in seen:
                seen.add(where)
                _keep(failures, where, content)

    atheris.Setup([str(_again(failures.parent, name)), *options], once)
    atheris.Fuzz()


def _again(folder: Path, name: str) -> Path:
    """A program that does the same: a merge starts it for each input that ended it."""
    program = folder / "again"
    program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m tests.fuzz.search {name} "$@"\n')
    program.chmod(0o755)
    return program


def _place(error: Exception) -> str:
    """The kind of error, and the innermost line of ours that it passed."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if "site-packages" not in frame.filename]
    return f"{type(error).__name__}: {error!s:.200}\n" + "".join(traceback.format_list(frames[-4:])) if frames else ""


def _keep(failures: Path, where: str, content: bytes) -> None:
    known = "".join(line for line in where.splitlines(keepends=True) if "File" in line or line[:1] != " ")
    first, _, rest = known.partition("\n")
    path = failures / hashlib.sha256((first.partition(":")[0] + rest).encode()).hexdigest()[:12]
    if not path.exists():
        path.write_bytes(content)
        path.with_suffix(".txt").write_text(where)
        print(f"FAILURE {path}\n{where}", flush=True)


def _rolled_back(read: Callable[[bytes], object]) -> Callable[[bytes], None]:
    from django.db import transaction  # noqa: PLC0415

    def within(content: bytes) -> None:
        with transaction.atomic():
            try:
                read(content)
            finally:
                transaction.set_rollback(True)

    return within


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
