"""How the tests run: side by side on several processes, slow ones first; what was skipped or retried is reported."""

import gc
import os
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from itertools import chain
from pathlib import Path

import pytest
from django.conf import settings
from xdist.scheduler import LoadScopeScheduling

from config.launch import suite
from lab import packages
from lab.galera import Galera
from lab.group_replication import GroupReplication
from lab.mha import MHA

# Marker -> the programs that its tests need.
NEEDS = {
    "mariadb": ("mariadbd", "mariadb-install-db", "sysbench"),
    "galera": (*Galera.needs, "sysbench"),
    "group": (*GroupReplication.needs, "mariadbd"),
    "mha": (*MHA.needs, "sysbench"),
    "browser": ("chromium",),
}
# Markers of tests on real database systems, which depend on more than our code: they may be tried once more.
RETRIED = ("galera", "group", "mha", "mariadb")
RETRIES = 2  # in a whole run; more fail it
SYSTEMS = ("galera", "mha", "group")  # of which one serves all tests
# Beginnings of paths, the slowest first: what begins last should end soon.
SLOW = ("tests/e2e", "tests/launch", "tests/faults", "tests/workers/agent", "tests/workers_tasks", "tests/lab")
WHOLE = ("tests/e2e", "tests/faults")  # whose tests share one running product
MISSING = "not on PATH: "
YOUNG = 50_000  # objects made before the collector looks for those that nothing refers to
SHOWN = 60  # lines of what a test that was retried had printed


def own_broker() -> None:
    """A database of Valkey for each process of the tests: a worker of one must not take what another sent."""
    number = os.environ.get("PYTEST_XDIST_WORKER", "").removeprefix("gw")
    if number.isdecimal():
        for name in ("REDIS_URL", "CELERY_BROKER_URL"):
            url = re.sub(r"(/|\?db=|\?virtual_host=)0$", rf"\g<1>{int(number) + 1}", getattr(settings, name))
            setattr(settings, name, url)
        os.environ["REDIS_URL"] = settings.REDIS_URL


class BySystem(LoadScopeScheduling):  # type: ignore[misc]  # it has no types
    """Tests of one module run in one process, in order; so do all modules that use the same system of the lab,
    and those that use the whole product."""

    def _split_scope(self, nodeid: str) -> str:
        path = nodeid.split("::", 1)[0]
        whole = next((folder for folder in WHOLE if path.startswith(f"{folder}/")), path)
        return _system(self.config.rootpath / path) or whole


@cache
def _system(module: Path) -> str:
    """galera, mha, group, or empty; the process that distributes the tests knows their names alone."""
    found = re.search(rf"pytest\.mark\.({'|'.join(SYSTEMS)})\b", module.read_text())
    return found[1] if found else ""


def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> BySystem:
    return BySystem(config, log)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        names = {marker.name for marker in item.iter_markers()}
        wanted = [*(NEEDS.get(name, ()) for name in names), *(marker.args for marker in item.iter_markers("needs"))]
        missing = packages.missing(dict.fromkeys(chain.from_iterable(wanted)))
        if missing and not os.environ.get("CI"):
            item.add_marker(pytest.mark.skip(reason=f"{MISSING}{', '.join(missing)}"))
        if names.intersection(RETRIED):
            item.add_marker(pytest.mark.flaky(reruns=1))
    items.sort(key=_place)  # which keeps the order of what has the same place


def _place(item: pytest.Item) -> int:
    system = _system(item.path)
    if system:
        return SYSTEMS.index(system)
    slow = (place for place, start in enumerate(SLOW) if item.nodeid.startswith(start))
    return len(SYSTEMS) + next(slow, len(SLOW))


def pytest_collection_finish() -> None:
    """What was imported stays: the collector need not look through it after every few tests."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(YOUNG)


def pytest_unconfigure() -> None:
    """Libraries look at the end for objects of theirs that are left."""
    gc.unfreeze()


def pytest_sessionfinish(session: pytest.Session) -> None:
    """More retries than RETRIES fail a run that passed."""
    if hasattr(session.config, "workerinput") or session.exitstatus != pytest.ExitCode.OK:
        return
    if len(_reports(session.config, "rerun")) > RETRIES:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    write = terminalreporter.write_line
    retried = _reports(config, "rerun")
    if retried:
        terminalreporter.section(f"tried once more: {len(retried)} (at most {RETRIES}); each is a defect to be mended")
        for report in retried:
            write(f"{report.nodeid}\n{report.longreprtext}")
            for name, text in report.sections:
                write("\n".join([f"--- {name}, the end of it", *text.splitlines()[-SHOWN:]]))
            write("")
    for line in _skipped(_reports(config, "skipped")):
        write(line)


def _reports(config: pytest.Config, kind: str) -> list[pytest.TestReport]:
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    return list(reporter.stats.get(kind, [])) if reporter else []


def _skipped(reports: list[pytest.TestReport]) -> Iterator[str]:
    """One line for all that lacked a program, with the command that installs them; one for each other reason."""
    reasons = Counter(
        report.longrepr[2].removeprefix("Skipped: ") for report in reports if isinstance(report.longrepr, tuple)
    )
    missing = {
        name for reason in reasons if reason.startswith(MISSING) for name in reason.removeprefix(MISSING).split(", ")
    }
    if missing:
        count = sum(number for reason, number in reasons.items() if reason.startswith(MISSING))
        command = packages.command_for(sorted(missing), suite.PACKAGES)
        yield f"Skipped for want of a program: {count}. To run them: {command}"
    for reason, number in reasons.items():
        if not reason.startswith(MISSING):
            yield f"Skipped: {number}, {reason}"
