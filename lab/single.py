"""One MariaDB server as a system."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from lab.debian import server_program, unpack
from lab.mariadb import PROGRAMS, MariaDB
from lab.packages import LabError
from lab.systems import AgentEntry, Member, Progress

NODE = "db1"


class Single:
    needs: Sequence[str] = PROGRAMS
    size = 1

    def __init__(self, var: Path, slug: str, name: str, settings: Mapping[str, str], *, debian: str = "") -> None:
        """`debian`: the release of Debian whose MariaDB it is; empty: the machine's own."""
        self.slug = slug
        self.name = name
        self._debian = debian
        self._unpacked = var / "lab" / "programs" / debian
        other = server_program(self._unpacked) if debian else None
        self.server = MariaDB(var / "lab" / slug, settings=settings, other=other)

    def up(self, progress: Progress) -> None:
        if self._debian:
            progress(f"MariaDB of Debian {self._debian}")
            unpack(self._debian, self._unpacked)
        progress("one server")
        self.server.start()

    def down(self) -> None:
        self.server.stop()

    def is_up(self) -> bool:
        return self.server.is_ready()

    def state(self) -> str:
        return f"runs on 127.0.0.1:{self.server.port}, process {self.server.pid}" if self.is_up() else "is stopped"

    def registration(self) -> AgentEntry:
        address: Mapping[str, str | int] = {"host": "127.0.0.1", "port": self.server.port}
        return AgentEntry(
            name=self.name,
            platform="mariadb",
            address=address,
            password_file=self.server.password_file,
            settings=self.server.settings,
            members=[Member(NODE, "writer", address)],
        )

    def start(self, _node: str, /) -> None:
        self.server.start()

    def stop(self, _node: str, /) -> None:
        self.server.stop()

    def do(self, control: str, _node: str, /) -> None:
        raise LabError(f"{self.slug} has no {control}: it is one server")
