"""Starting programs that end with the supervisor, and waiting for them without missing a signal."""

import contextlib
import ctypes
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

from config.launch.console import LaunchProblem, LaunchStep

PR_SET_PDEATHSIG = 1
POLL = 0.05  # s
_libc = ctypes.CDLL(None, use_errno=True)


class Interrupted(Exception):
    """A signal requested a stop."""

    def __init__(self, signum: int) -> None:
        super().__init__(signal.Signals(signum).name)
        self.signum = signum


class Signals:
    """Signals only set a flag: an exception at an arbitrary point could leave an untracked child."""

    received: int = 0

    @classmethod
    def install(cls) -> None:
        for signum in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            # nohup ignores the end of the terminal.
            if signum != signal.SIGHUP or signal.getsignal(signum) is not signal.SIG_IGN:
                signal.signal(signum, cls._note)

    @classmethod
    def _note(cls, signum: int, _frame: FrameType | None) -> None:
        cls.received = signum

    @classmethod
    def check(cls) -> None:
        """Raises Interrupted once per signal."""
        if cls.received:
            signum, cls.received = cls.received, 0
            raise Interrupted(signum)


@dataclass(frozen=True)
class Account:
    """The user for a program that must not run as root when we are root."""

    name: str
    uid: int
    gid: int


def die_with_parent(signum: int) -> Callable[[], None]:
    """For `preexec_fn`, which runs after the change of user: that change would clear the setting."""
    parent = os.getpid()

    def request_signal() -> None:
        _libc.prctl(PR_SET_PDEATHSIG, signum, 0, 0, 0)
        if os.getppid() != parent:  # it died before the call
            os._exit(1)

    return request_signal


def follow_parent() -> None:
    """Stops when the process that started us (make) is killed."""
    _libc.prctl(PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)


def spawn(
    argv: Sequence[str | Path],
    *,
    output: int,
    env: Mapping[str, str],
    cwd: Path,
    account: Account | None = None,
    parent_death: int = signal.SIGTERM,
    stdin: int = subprocess.DEVNULL,
    umask: int = -1,
) -> subprocess.Popen[bytes]:
    """Starts a program as leader of its own group. Main thread only: PR_SET_PDEATHSIG is bound to the thread.

    `umask`: -1 for ours.
    """
    return subprocess.Popen(
        [str(part) for part in argv],
        stdin=stdin,
        stdout=output,
        stderr=subprocess.STDOUT,
        env=dict(env),
        cwd=cwd,
        start_new_session=True,
        user=account.uid if account else None,
        group=account.gid if account else None,
        extra_groups=[] if account else None,
        umask=umask,
        preexec_fn=die_with_parent(parent_death),  # noqa: PLW1509 - this process has one thread
    )


def run(
    argv: Sequence[str | Path],
    *,
    step: LaunchStep,
    log: Path,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    account: Account | None = None,
    detail: Callable[[], str] = str,
    stdin: str = "",
    append: bool = False,
) -> int:
    """Runs a program to its end, with output in `log` and a ticking step. Interrupted: raised after killing it."""
    with open(log, "ab" if append else "wb") as file, _as_file(stdin) as source:
        process = spawn(
            argv,
            output=file.fileno(),
            env=os.environ if env is None else env,
            cwd=cwd or Path.cwd(),
            account=account,
            parent_death=signal.SIGKILL,
            stdin=source,
        )
        try:
            while process.poll() is None:
                Signals.check()
                step.tick(detail())
                time.sleep(POLL)
        except BaseException:
            kill_group(process.pid)
            process.wait()
            raise
    return process.returncode


@contextlib.contextmanager
def _as_file(text: str) -> Iterator[int]:
    """File descriptor that reads as `text`."""
    if not text:
        yield subprocess.DEVNULL
        return
    reader, writer = os.pipe()
    with os.fdopen(writer, "w") as file:
        file.write(text)  # a few lines: far below a pipe's capacity
    try:
        yield reader
    finally:
        os.close(reader)


def kill_group(pid: int, signum: int = signal.SIGKILL) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(pid, signum)


START_MARK = "-------- started "
OWNER_ONLY = 0o077  # umask


def _owned(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


@contextlib.contextmanager
def appended_log(path: Path) -> Iterator[int]:
    """File descriptor for a program's output, appended to that of earlier starts."""
    with open(path, "ab", buffering=0, opener=_owned) as file:
        with contextlib.suppress(OSError):  # a full disk: what is started may be what makes room
            file.write(f"{START_MARK}{time.strftime('%Y-%m-%d %H:%M:%S')}\n".encode())
        yield file.fileno()


def tail(path: Path, lines: int = 8) -> list[str]:
    """Last lines of a log since the program's last start; none when there is no log."""
    try:
        with open(path, "rb") as file:
            file.seek(max(0, path.stat().st_size - 65536))
            text = file.read().decode(errors="replace")
    except FileNotFoundError:
        return []
    text = text.rpartition(START_MARK)[2].partition("\n")[2] if START_MARK in text else text
    return text.splitlines()[-lines:]


DISK_FULL = "the disk is full: free some space and try again"
FULL = 1024**2  # bytes left, too few to work with
COMPILERS = ("gcc", "cc", "x86_64-linux-gnu-gcc", "aarch64-linux-gnu-gcc")
# Texts in a log -> cause and remedy.
CAUSES: Sequence[tuple[tuple[str, ...], str]] = (
    (("No space left on device", "os error 28", "ENOSPC", "Disk quota exceeded"), DISK_FULL),
    (
        (
            *(f"command '{name}' failed" for name in COMPILERS),
            *(f"No such file or directory: '{name}'" for name in COMPILERS),
            *(f"unable to execute '{name}'" for name in COMPILERS),
            *("Unknown compiler(s)", "no acceptable C compiler", "linker `cc` not found"),
        ),
        "a package has no ready-made build for this machine and there is no C compiler to build it: install one "
        "(Debian, Ubuntu: apt-get install build-essential python3-dev) and try again",
    ),
    (
        (
            *("dns error", "Temporary failure in name resolution", "Could not resolve host", "Failed to fetch"),
            *("ENOTFOUND", "EAI_AGAIN", "ECONNREFUSED", "ETIMEDOUT"),
            *("NewConnectionError", "ConnectTimeoutError", "NameResolutionError", "invalid peer certificate"),
        ),
        "the package index cannot be reached: check the network, proxy and certificate settings and try again",
    ),
    (
        ("Hash mismatch", "DO NOT MATCH THE HASHES", "EINTEGRITY"),
        "a downloaded package is not the one that was locked: check the package index or mirror in use",
    ),
    (("MemoryError", "Cannot allocate memory", "ENOMEM"), "the machine is out of memory: free some and try again"),
)


def cause(log: Path) -> str:
    """The known cause and remedy found in a log; empty when unknown."""
    if shutil.disk_usage(log.parent).free < FULL:
        return DISK_FULL  # then the log, too, may be incomplete
    text = "\n".join(tail(log, 200))
    return next((sentence for signs, sentence in CAUSES if any(sign in text for sign in signs)), "")


def failure(what: str, log: Path) -> LaunchProblem:
    """The error for a failed step, with the path of the full log."""
    reason = cause(log)
    if not reason:
        last = next((line.strip() for line in reversed(tail(log)) if line.strip()), "none")
        reason = f"last line of its output: {last[:200]}"
    return LaunchProblem(f"{what} failed: {reason}. The full log is {log}.")


def clean_environment() -> dict[str, str]:
    """Our environment without variables that would mislead a Python of the environment."""
    misleading = {"VIRTUAL_ENV", "PYTHONHOME", "PYTHONPATH", "PYTHONSTARTUP", "__PYVENV_LAUNCHER__"}
    misleading.add("PYTHONDONTWRITEBYTECODE")  # each start would recompile every module: 7 s instead of 3
    return {name: value for name, value in os.environ.items() if name not in misleading}


def require_linux() -> None:
    if not sys.platform.startswith("linux"):
        raise LaunchProblem(
            "`make run` and `make test` work on Linux: elsewhere use `docker compose up` (docs/howto/operate.md)."
        )
