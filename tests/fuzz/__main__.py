"""`python -m tests.fuzz batches --seconds 600` searches a target for input that it neither reads nor refuses.

Atheris is installed once, outside the environment: python3.11 -m pip install --target var/atheris atheris==3.0.0
Then it measures how long a megabyte takes; `--pace` does only that.
`--merge` replaces the target's corpus by the smallest one that reaches as much.
"""

import argparse
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path

import django

from config.launch import places as launch_places
from config.launch import suite
from config.launch.console import Screen
from tests.paths import ROOT

ATHERIS = ROOT / "var" / "atheris"
LONGEST = 4096  # bytes of an input
SLOWEST = 20  # s of one input
MEMORY = 2048  # MiB
MOST = 12_000  # bytes of a target's corpus


def main(argv: Sequence[str]) -> int:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    django.setup()
    from tests.fuzz import places, seeds  # noqa: PLC0415 - after django.setup
    from tests.fuzz.targets import TARGETS  # noqa: PLC0415

    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("name", choices=sorted(TARGETS))
    parser.add_argument("--seconds", type=int, default=600)
    parser.add_argument("--pace", action="store_true", help="measure s per MB instead of searching; without Atheris")
    parser.add_argument("--merge", action="store_true", help="make the corpus small instead of searching")
    options = parser.parse_args(argv)
    if options.pace:
        return _pace(options.name)
    if not ATHERIS.exists():
        parser.error("Atheris is missing: python3.11 -m pip install --target var/atheris atheris==3.0.0")
    found, corpus = places.work(options.name) / "found", places.corpus(options.name)
    found.mkdir(parents=True, exist_ok=True)
    corpus.mkdir(parents=True, exist_ok=True)
    for number, content in enumerate(seeds.of(options.name)):
        (found / f"seed{number:03}").write_bytes(content[:LONGEST])
    with ExitStack() as stack:
        env: dict[str, str] = dict(os.environ)
        if TARGETS[options.name].database and "SPLASHBOARD_TEST_TEMPLATE" not in env:
            stores = suite.own_stores(launch_places.from_environment(), Screen(), "fsync=off", "full_page_writes=off")
            env = stack.enter_context(stores)
        if TARGETS[options.name].database:
            subprocess.run([sys.executable, "manage.py", "migrate", "--verbosity", "0"], cwd=ROOT, env=env, check=True)
        if options.merge:
            return _merge(options.name, corpus, found, env)
        limits = [f"-max_total_time={options.seconds}", f"-rss_limit_mb={MEMORY}", "-print_final_stats=1"]
        _run(options.name, [*limits, str(found), str(corpus)], env)
    failures = sorted((places.work(options.name) / "failures").glob("*.txt"))
    for failure in failures:
        print(f"{failure}\n{failure.read_text()}")
    slow = 0 if TARGETS[options.name].database else _pace(options.name)
    return 1 if failures or slow else 0


def _pace(name: str) -> int:
    """Exit code: 1 where any takes too long."""
    from tests.fuzz import pace  # noqa: PLC0415 - after django.setup

    is_slow = False
    for each in pace.paces(name):
        print(each, flush=True)
        is_slow = is_slow or each.is_slow
    return int(is_slow)


def _run(name: str, options: Sequence[str], env: Mapping[str, str]) -> int:
    prefix = f"-artifact_prefix={ROOT}/var/fuzz/{name}/"
    argv = [
        sys.executable,
        "-m",
        "tests.fuzz.search",
        name,
        f"-max_len={LONGEST}",
        f"-timeout={SLOWEST}",
        prefix,
        *options,
    ]
    paths = os.pathsep.join(filter(None, (str(ATHERIS), str(ROOT / "client"), env.get("PYTHONPATH", ""))))
    return subprocess.run(argv, cwd=ROOT, env={**env, "PYTHONPATH": paths}, check=False).returncode


def _merge(name: str, corpus: Path, found: Path, env: Mapping[str, str]) -> int:
    """The inputs that together reach all that any reaches, by libFuzzer's greedy set cover; of them the shortest."""
    small = found.with_name("small")
    shutil.rmtree(small, ignore_errors=True)
    small.mkdir()
    code = _run(name, ["-set_cover_merge=1", str(small), str(corpus), str(found)], env)
    if code == 0:
        _keep_shortest(small)
        shutil.rmtree(corpus)
        small.rename(corpus)
    return code


def _keep_shortest(folder: Path) -> None:
    """Removes the longest files until the folder is small enough for the repository."""
    room = MOST
    for path in sorted(folder.iterdir(), key=lambda path: (path.stat().st_size, path.name)):
        room -= path.stat().st_size
        if room < 0:
            path.unlink()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
