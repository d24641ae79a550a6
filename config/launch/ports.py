"""The web server's port: the requested one, else the first free one."""

import errno
import socket

from config.launch.console import LaunchProblem

VARIABLE = "SPLASHBOARD_PORT"
FIRST, LAST = 8000, 8999  # the range searched for a free one


class Port:
    """A port that no other checkout's `make run` takes as long as this object exists.

    The web server binds it seconds later and lets others bind it too, so the claim is a socket in the kernel's abstract
    namespace: its name is unique, and it ends with its process.
    """

    def __init__(self, host: str, number: int) -> None:
        """Raises OSError when the port or the claim is taken, or when binding is not permitted."""
        self.number = number
        self._claim = socket.socket(socket.AF_UNIX)
        try:
            self._claim.bind(f"\0splashboard-port-{number}")
            with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as probe:
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                probe.bind((host.strip("[]"), number))
        except OSError:
            self._claim.close()
            raise

    def release(self) -> None:
        self._claim.close()


def take(host: str, number: int) -> Port:
    """`number` 0: the first free port. Raises LaunchProblem."""
    for candidate in [number] if number else range(FIRST, LAST + 1):
        try:
            return Port(host, candidate)
        except socket.gaierror as error:
            raise _no_address(host) from error
        except OSError as error:
            if error.errno in (errno.EACCES, errno.EPERM):
                raise LaunchProblem(
                    f"Port {candidate} for the web server is kept for root: choose one above 1023 with {VARIABLE}."
                ) from error
            if error.errno == errno.EADDRNOTAVAIL:
                raise _no_address(host) from error
            if error.errno != errno.EADDRINUSE:
                raise
    if number:
        other = number + 1 if number < 65535 else number - 1
        raise LaunchProblem(
            f"Port {number}, which the web server is to take, is in use by another program: stop that program, choose "
            f"another port with `{VARIABLE}={other} make run`, or let `make run` find one: unset {VARIABLE}."
        )
    raise LaunchProblem(f"No port from {FIRST} to {LAST} is free: choose one with `{VARIABLE}={LAST + 1} make run`.")


def _no_address(host: str) -> LaunchProblem:
    return LaunchProblem(f"SPLASHBOARD_HOST is {host}, which is no address of this machine: use 127.0.0.1 or 0.0.0.0.")
