"""Ports of servers on this machine: claimed once, so that a server comes back where it was."""

import fcntl
import json
import os
import random
import socket
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

# Below the ports that the kernel gives to outgoing connections: one of those could take a killed server's place.
LOWEST, HIGHEST = 13000, 29999
# One folder for all users of the machine, whatever TMPDIR is. A claim is a symbolic link PORT -> owner: it is made in
# one step, and void once the owner is gone.
CLAIMS = Path("/tmp/splashboard-ports")  # noqa: S108 - a link in it is read, never followed


def is_free(port: int) -> bool:
    with socket.socket() as probe:
        # As the servers do: a connection that was closed a moment ago does not count.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def free_port(owner: Path) -> int:
    """A port that nobody listens on or has claimed. It stays claimed as long as `owner`, a file or folder, exists."""
    owner = owner.resolve(strict=True)
    with _claims() as folder:
        while True:
            port = random.SystemRandom().randint(LOWEST, HIGHEST)
            if not _owner(folder / str(port)) and is_free(port) and _claim(folder / str(port), owner):
                return port


def kept_ports(file: Path, names: Iterable[str]) -> dict[str, int]:
    """A port for each name; those that `file` knows stay. The claims last as long as the file's folder."""
    file.parent.mkdir(parents=True, exist_ok=True)
    known: dict[str, int] = json.loads(file.read_text()) if file.exists() else {}
    for port in known.values():
        claim_again(port, file.parent)
    ports = {**known, **{name: free_port(file.parent) for name in names if name not in known}}
    if ports != known:
        file.write_text(json.dumps(ports, indent=1))
    return ports


def replace_taken(file: Path, ports: dict[str, int], names: Iterable[str]) -> None:
    """Others for those of `names` on which somebody else listens by now, in `ports` and in `file`."""
    taken = [name for name in names if not is_free(ports[name])]
    if taken:
        ports.update({name: free_port(file.parent) for name in taken})
        file.write_text(json.dumps(ports, indent=1))


def claim_again(port: int, owner: Path) -> None:
    """For a port that was chosen earlier: /tmp is emptied now and then. Another's claim stays."""
    with _claims() as folder:
        if not _owner(folder / str(port)):
            _claim(folder / str(port), owner.resolve(strict=True))


@contextmanager
def _claims() -> Iterator[Path]:
    """The folder, locked: whoever else looks for a port waits."""
    CLAIMS.mkdir(exist_ok=True)
    descriptor = os.open(CLAIMS, os.O_RDONLY | os.O_DIRECTORY)
    try:
        if os.fstat(descriptor).st_uid == os.geteuid():
            os.fchmod(descriptor, 0o1777)  # for all users, each of whom deletes only his own
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield CLAIMS
    finally:
        os.close(descriptor)


def _owner(claim: Path) -> str:
    """Who has claimed the port; empty: nobody, or an owner that is gone."""
    try:
        owner = os.readlink(claim)
    except FileNotFoundError:
        return ""
    except OSError:
        return "unknown"
    try:
        os.lstat(owner)
    except (FileNotFoundError, NotADirectoryError):
        return ""
    except OSError:
        return owner  # in a folder that is closed to us
    return owner


def _claim(claim: Path, owner: Path) -> bool:
    """False: a void claim of another user is in the way."""
    try:
        claim.unlink(missing_ok=True)
        claim.symlink_to(owner)
    except OSError:
        return False
    return True
