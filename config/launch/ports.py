"""Ports: whether one is free, and what to say when it is not."""

import errno
import socket

from config.launch.say import Problem


def in_use(what: str, port: int, variable: str) -> Problem:
    other = port + 1 if port < 65535 else port - 1
    return Problem(
        f"Port {port}, which {what} is to take, is in use by another program: stop that program "
        f"or choose another port with `{variable}={other} make run`."
    )


def require_free(what: str, host: str, port: int, variable: str) -> None:
    """Raises Problem when something else has the port, or when it may not be taken."""
    host = host.strip("[]")
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except socket.gaierror as error:
            raise _no_address(host) from error
        except OSError as error:
            if error.errno in (errno.EACCES, errno.EPERM):
                raise Problem(
                    f"Port {port} for {what} is kept for root: choose one above 1023 with {variable}."
                ) from error
            if error.errno == errno.EADDRNOTAVAIL:
                raise _no_address(host) from error
            raise in_use(what, port, variable) from error


def _no_address(host: str) -> Problem:
    return Problem(f"SPLASHBOARD_HOST is {host}, which is no address of this machine: use 127.0.0.1 or 0.0.0.0.")
