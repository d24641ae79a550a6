"""`make test`: the same environment, and pytest on every core with its own PostgreSQL and Valkey."""

import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from config.launch import environment, frontend, orphans, postgres, processes, programs, stores
from config.launch.children import Children, RunLock
from config.launch.console import LaunchStep, Screen
from config.launch.places import PYTHON, ROOT, Places, make_folders
from lab import packages
from lab.ports import free_port

# Program needed by tests -> its Debian package.
PACKAGES = {
    **packages.PACKAGES,
    "cc": "gcc",  # of a library of tests/faults
    "chromium": "chromium",
    "curl": "curl",
    "fio": "fio",
    "git": "git",
    "mysqlslap": "mariadb-client",
    "pgbench": "postgresql",
    # Monitoring systems as others have them: tests/client/monitoring/test_attach_for_real.py.
    "prometheus": "prometheus",
    "promtool": "prometheus",
    "prometheus-mysqld-exporter": "prometheus-mysqld-exporter",
    "prometheus-node-exporter": "prometheus-node-exporter",
    "pt-query-digest": "percona-toolkit",
    "victoria-metrics": "victoria-metrics",
}

MOST_WORKERS = 8  # each has its own database and servers
REAP = 0.5  # s between checks for ended orphans
DISTRIBUTED = ("--dist=loadscope", "--no-loadscope-reorder")  # tests.runner defines the groups


def run(places: Places, screen: Screen, arguments: Sequence[str]) -> int:
    """pytest's exit code; the checks of `make check` are tests as well. Raises LaunchProblem when the set-up fails."""
    make_folders(places)
    environment.ensure(places=places, screen=screen)
    install_programs(places, screen)
    frontend.ensure_packages(places=places, screen=screen)  # also those of the checks
    frontend.ensure(places=places, screen=screen)
    return run_pytest(places, screen, arguments)


def install_programs(
    places: Places,
    screen: Screen,
    wanted: Mapping[str, str] | None = None,
    otherwise: str = "Their tests are skipped",
) -> None:
    """Installs missing programs from Debian's packages if permitted; `otherwise`: the consequence without them."""
    wanted = PACKAGES if wanted is None else wanted
    missing = packages.missing(wanted)
    if not missing:
        return
    if not packages.may_install():
        screen.line(f"  Not found: {', '.join(missing)}. {otherwise}; as root on Debian they are installed.")
        return
    what = f"Installing {', '.join(missing)}"
    step, log = LaunchStep(screen, what), places.log_of("apt")
    env = {**processes.clean_environment(), "DEBIAN_FRONTEND": "noninteractive"}
    with packages.no_services():
        code = processes.run([*packages.APT_GET, "update"], step=step, log=log, env=env)
        if code == 0:
            argv = [*packages.APT_GET, *packages.INSTALL, *dict.fromkeys(wanted[name] for name in missing)]
            code = processes.run(argv, step=step, log=log, env=env, append=True)
    if code or packages.missing(wanted):
        step.failed()
        screen.line(f"  {processes.failure(what, log)} {otherwise}.")
    else:
        step.done()


def run_pytest(places: Places, screen: Screen, arguments: Sequence[str]) -> int:
    # The data lives for minutes: no need to wait for the disk.
    with own_stores(places, screen, "fsync=off", "full_page_writes=off", "max_connections=300") as env:
        argv: list[str | Path] = [PYTHON, "-m", "pytest", f"--numprocesses={_workers()}", *DISTRIBUTED, *arguments]
        return in_front(argv, {**env, "SPLASHBOARD_TEST_TEMPLATE": postgres.NAME})


def _workers() -> int:
    """One more than there are CPUs: tests of real systems mostly wait."""
    return min(len(os.sched_getaffinity(0)) + 1, MOST_WORKERS)


@contextmanager
def own_stores(places: Places, screen: Screen, *options: str) -> Iterator[dict[str, str]]:
    """The environment for programs that use a PostgreSQL and a Valkey which exist during the block only.

    `options`: further settings of that PostgreSQL.
    """
    with tempfile.TemporaryDirectory(prefix="splashboard-") as folder:
        # As root, PostgreSQL runs as another user.
        os.chmod(folder, 0o711)  # noqa: S103 - others may pass, not look
        own = replace(places, var=Path(folder), port=free_port(Path(folder)), database_url="", redis_url="")
        make_folders(own)
        children = Children(own, RunLock(own, screen))
        children.start_guard()
        try:
            found = stores.start_stores(own, children, screen, *options)
            yield programs.environ(own, database_url=found.database_url, redis_url=found.redis_url)
        finally:
            children.stop_all(Screen(open(os.devnull, "w")))  # noqa: SIM115 - the program's closing line is the last


def in_front(argv: Sequence[str | Path], env: Mapping[str, str]) -> int:
    """Runs a program with our own output, and ends its leftover children: interrupted tests do not stop their servers.

    Ctrl-C in a terminal reaches the program directly: it then ends by itself.
    """
    with orphans.adopted() as left:
        process = subprocess.Popen(
            argv,
            env=env,
            cwd=ROOT,
            preexec_fn=processes.die_with_parent(signal.SIGTERM),  # noqa: PLW1509 - one thread
        )
        left.keep(process.pid)
        reap_at = time.monotonic() + REAP
        while process.poll() is None:
            try:
                processes.Signals.check()
            except processes.Interrupted as interrupted:
                process.send_signal(interrupted.signum)
            if time.monotonic() > reap_at:
                left.reap()
                reap_at = time.monotonic() + REAP
            time.sleep(processes.POLL)
    return process.returncode if process.returncode >= 0 else 128 - process.returncode
