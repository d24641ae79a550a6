"""`make run`: starts everything in order, watches it, and leaves nothing behind."""

import contextlib
import hashlib
import http.client
import json
import os
import shutil
import signal
import time
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from config.launch import environment, frontend, ports, processes, programs, stores
from config.launch.children import PROGRAMS, Children, RunLock
from config.launch.console import LaunchProblem, LaunchStep, Screen
from config.launch.places import ROOT, Places, make_folders, require_artifacts, require_space
from config.launch.programs import Program
from config.launch.pulses import AnswerPulse, HeartPulse, HeartPulses, Pulse, Pulses
from config.launch.watchdog import Watchdog, Watched, how, report_end

STARTS_WITHIN = 300.0  # s for the web to answer; a busy machine takes minutes
NEEDS_BYTES = 200 * 1024**2  # a new database takes 50 MB, its log up to twice as much at the first load
LOG_LIMIT = 20 * 1024**2  # bytes; a longer log is moved to NAME.log.1
LOGS_EVERY = 30.0  # s between checks of their sizes
METRICS, HEARTBEATS = "metrics", "heartbeats"
PREPARE, PREPARING = "prepare", "Preparing the database"
PUBLIC = "whoever reaches this server reads everything (SPLASHBOARD_PUBLIC_READ is on)"
QUIET = "nothing is measured, started by schedule or sent (SPLASHBOARD_QUIET is on)"
RESTORED, MOST_PROBLEMS = "restored", 20  # in the line that ends a restoring; lines, of which others are problems
# Sources of the prepared database and static files.
PREPARED_FROM = ("apps", "config", "requirements.txt", "frontend/dist/manifest.json")


@dataclass(frozen=True)
class Prepared:
    """`link`: path of the sign-in link; `is_public`: reached by others, who may read without signing in."""

    link: str
    is_public: bool


@dataclass
class Supervisor:
    places: Places
    screen: Screen
    children: Children
    env: dict[str, str] = field(default_factory=dict)
    port: ports.Port | None = None
    watchdog: Watchdog = field(init=False)

    def __post_init__(self) -> None:
        self.watchdog = Watchdog(self.places, self.screen, self.children)

    def run(self) -> None:
        """Runs until Interrupted or LaunchProblem, reported by the caller; all children are stopped then."""
        try:
            self._start()
            logs_at = 0.0
            while True:
                processes.Signals.check()
                self.children.keep_guard()
                self._look_at_examples()
                self.watchdog.turn()
                if time.monotonic() > logs_at:
                    _rotate_long_logs(self.places)
                    logs_at = time.monotonic() + LOGS_EVERY
                time.sleep(0.2)
        finally:
            self.children.stop_all(self.screen)
            if self.port:
                self.port.release()

    # ------------------------------------------------------------ start

    def _start(self) -> None:
        self.children.stop_leftovers(self.screen)
        self.port = ports.take(self.places.host, self.places.port)
        self.places = replace(self.places, port=self.port.number)
        require_space(self.places.var, NEEDS_BYTES, "a start")
        environment.ensure(places=self.places, screen=self.screen)
        self.children.start_guard()
        self._start_stores()
        is_first = not self.stamp.exists()
        if is_first:  # the front end's packages are mostly waited for
            self._begin_preparing("--without-static")
        frontend.ensure(places=self.places, screen=self.screen)
        self._announce(self._start_programs(is_first=is_first), is_first=is_first)

    def _start_stores(self) -> None:
        found = stores.start_stores(self.places, self.children, self.screen)
        for store in found.own:
            self.watchdog.keep(
                store.name,
                Watched(partial(stores.launch, store, self.children), is_ready=partial(self._is_ready, store)),
            )
        self.places.keep("port", str(self.places.port))
        self.env = programs.environ(self.places, database_url=found.database_url, redis_url=found.redis_url)
        # What the processes of an earlier start counted is nobody's.
        shutil.rmtree(self.places.var / METRICS, ignore_errors=True)
        self.env["PROMETHEUS_MULTIPROC_DIR"] = str(self.places.var / METRICS)
        if found.data:  # maybe outside of var/
            given = os.environ.get("SPLASHBOARD_DISKS")
            self.env["SPLASHBOARD_DISKS"] = ",".join([*([given] if given else []), str(found.data)])

    def _is_ready(self, store: stores.Store) -> bool:
        return store.is_ready(self.children.process(store.name).pid)

    @property
    def stamp(self) -> Path:
        """Holds the hash of what the database was prepared from."""
        return self.places.var / "prepared"

    @property
    def result(self) -> Path:
        return self.places.var / "prepared.json"

    def _begin_preparing(self, *options: str) -> None:
        """The process restores examples when all is prepared: longer than all the rest, and pages say how far it is."""
        self.places.keep("prepared.json", "{}")
        argv = programs.prepare(self.places, self.result, *options)
        with open(self.places.log_of(PREPARE), "wb") as log:
            process = processes.spawn(argv, output=log.fileno(), env=self.env, cwd=ROOT, umask=processes.OWNER_ONLY)
        self.children.add(PREPARE, process, rank=PROGRAMS, signum=signal.SIGTERM)

    def _await_prepared(self) -> Prepared:
        """Until all but the examples is prepared."""
        step, log = LaunchStep(self.screen, PREPARING), self.places.log_of(PREPARE)
        process = self.children.process(PREPARE)
        while not self._prepared() and process.poll() is None:
            processes.Signals.check()
            step.tick(_progress(log))
            time.sleep(processes.POLL)
        prepared = self._prepared()
        if not prepared:
            step.failed()
            raise processes.failure(PREPARING, log)
        step.done()
        return prepared

    def _prepared(self) -> Prepared | None:
        result = json.loads(self.result.read_text())
        return Prepared(**result) if result else None

    def _collect_static(self) -> None:
        """The front end's files, which were not there when the preparing began."""
        step, log = LaunchStep(self.screen, "Collecting static files"), self.places.log_of("static")
        if processes.run(programs.collect_static(), step=step, log=log, env=self.env, cwd=ROOT):
            step.failed()
            raise processes.failure("Collecting static files", log)
        step.done()

    def _start_programs(self, *, is_first: bool) -> Prepared:
        """Web and preparation start together where nothing can have changed, or pages cannot be asked for yet."""
        places = self.places
        wanted = prepared_from(self.env["DATABASE_URL"])
        unchanged = not is_first and self.stamp.read_text() == wanted
        if is_first:
            self._collect_static()
        if at_once := unchanged or is_first:
            self._launch_web()
        if not is_first:
            self._begin_preparing(*(["--unchanged"] if unchanged else []))
        prepared = self._await_prepared()
        self.result.unlink()
        self.stamp.write_text(wanted)
        if not at_once:
            self._launch_web()
        self._await_web()
        if places.is_quiet:
            return prepared
        for program in (programs.worker(), programs.beat(places)):
            self._launch(program, HeartPulse(places.var / HEARTBEATS / program.name))
        self._launch(programs.agent(places))
        return prepared

    def _launch(self, program: Program, pulse: Pulse | None = None) -> None:
        """And again whenever it ends, or `pulse` fails."""
        self._spawn(program)
        self.watchdog.keep(program.name, Watched(partial(self._spawn, program), pulse))

    def _launch_web(self) -> None:
        # Where the server listens on every address, this machine's own is one of them.
        host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(self.places.host, self.places.host.strip("[]"))  # noqa: S104
        program, hearts = programs.web(self.places), self.places.var / HEARTBEATS / "web"

        def spawn() -> None:
            shutil.rmtree(hearts, ignore_errors=True)  # of processes that ended
            self._spawn(program)

        spawn()
        # An answer may come from any of the server's processes.
        pulses = Pulses((AnswerPulse(host, self.places.port), HeartPulses(hearts)))
        self.watchdog.keep(program.name, Watched(spawn, pulses))

    def _spawn(self, program: Program) -> None:
        with processes.appended_log(self.places.log_of(program.name)) as log:
            process = processes.spawn(program.argv, output=log, env=self.env, cwd=ROOT, umask=processes.OWNER_ONLY)
        self.children.add(program.name, process, rank=PROGRAMS, signum=signal.SIGTERM)

    def _await_web(self) -> None:
        step = LaunchStep(self.screen, "Starting the web server")
        while not self._web_answers():
            processes.Signals.check()
            if self.children.process("web").poll() is not None:
                raise processes.failure("Starting the web server", self.places.log_of("web"))
            if step.elapsed > STARTS_WITHIN:
                raise LaunchProblem(
                    f"The web server does not answer after {step.elapsed:.0f} s: see {self.places.log_of('web')}."
                )
            step.tick()
            time.sleep(processes.POLL)
        step.done()

    def _web_answers(self) -> bool:
        address = self.places.address.removeprefix("http://")
        connection = http.client.HTTPConnection(address, timeout=10)
        try:
            connection.request("GET", "/api/v1/health/")
            return connection.getresponse().status < 500
        except (OSError, http.client.HTTPException):
            return False
        finally:
            connection.close()

    def _announce(self, prepared: Prepared, *, is_first: bool) -> None:
        address = self.places.address
        restores = is_first and self._is_restoring()
        for line in (
            "",
            "  Splashboard is running.",
            "",
            f"    Address   {address}/",
            f"    Sign in   {address}{prepared.link}   (as administrator; works once)",
            *([f"    PUBLIC    {PUBLIC}"] if prepared.is_public else []),
            "    Examples  are being restored; Home says how far" if restores else "",
            f"    Quiet     {QUIET}" if self.places.is_quiet else "",
            f"    API token {self.places.var / 'token'}",
            f"    Logs      {self.places.log}",
            "    Stop      Ctrl-C",
            "",
        ):
            self.screen.line(line)

    # ------------------------------------------------------------ watch

    def _look_at_examples(self) -> None:
        for name, code in self.children.ended():
            if name == PREPARE:
                self.children.drop(name)
                self._end_examples(code)

    def _is_restoring(self) -> bool:
        return all(name != PREPARE for name, _ in self.children.ended())

    def _end_examples(self, code: int) -> None:
        if code:
            report_end(self.places, self.screen, PREPARE, f"ended unexpectedly ({how(code)})")
            self.screen.line('  The example study is not complete: `make manage ARGS="examples load"` tries again.')
            return
        lines = processes.tail(self.places.log_of(PREPARE), MOST_PROBLEMS)
        end = next((number for number, line in enumerate(lines) if RESTORED in line), len(lines))
        for line in lines[end:]:
            self.screen.line(f"  Example study: {line}")


def run(places: Places, screen: Screen) -> int:
    """Exit code of `make run`. Raises LaunchProblem."""
    make_folders(places)
    if not (os.environ.get("S3_BUCKET") or os.environ.get("S3_ENDPOINT_URL")):
        require_artifacts(places.var / "artifacts")
    children = Children(places, RunLock(places, screen))
    try:
        Supervisor(places, screen, children).run()
    except processes.Interrupted:
        screen.line("  Stopped.")
    return 0


def _rotate_long_logs(places: Places) -> None:
    """Programs append to a log that they hold open, so its content is moved and the file stays."""
    for log in places.log.glob("*.log"):
        if log.stat().st_size > LOG_LIMIT:
            with contextlib.suppress(OSError):  # a full disk: room is worth more than the log
                shutil.copyfile(log, log.with_suffix(".log.1"))
            os.truncate(log, 0)


def prepared_from(database_url: str) -> str:
    """A hash of all sources of the prepared database and static files."""
    digest = hashlib.sha256(database_url.encode())
    for name in PREPARED_FROM:
        top = ROOT / name
        # Python and numba write compiled files there while programs run.
        files = [p for p in top.rglob("*") if "__pycache__" not in p.parts and p.is_file()] if top.is_dir() else [top]
        for file in sorted(files):
            digest.update(f"{file}\0{file.stat().st_size}\0".encode())
            digest.update(file.read_bytes())
    return digest.hexdigest()


def _progress(log: Path) -> str:
    """The last progress line of `manage.py prepare`."""
    lines = [line.removeprefix("progress: ") for line in processes.tail(log, 40) if line.startswith("progress: ")]
    return lines[-1] if lines else ""
