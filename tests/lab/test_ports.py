"""Claims of ports, made by several processes and users at once."""

import os
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from lab import ports

# Claims COUNT ports of those from LOWEST to HIGHEST and prints them.
CLAIM = """
import sys
from pathlib import Path
from lab import ports
folder, owner, lowest, highest, count, user = sys.argv[1:]
if int(user):
    import os
    os.setuid(int(user))
ports.CLAIMS, ports.LOWEST, ports.HIGHEST = Path(folder), int(lowest), int(highest)
for _ in range(int(count)):
    print(ports.free_port(Path(owner)))
"""


@pytest.fixture
def folder(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """With the claims of this test, open to all users."""
    path = Path(tempfile.mkdtemp(prefix="splashboard-ports-"))
    path.chmod(0o755)
    monkeypatch.setattr(ports, "CLAIMS", path / "claims")
    yield path
    shutil.rmtree(path)


@pytest.fixture
def two(folder: Path, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The only ports that there are to choose from, both free."""
    lowest = next(port for port in range(10000, 13000, 2) if ports.is_free(port) and ports.is_free(port + 1))
    monkeypatch.setattr(ports, "LOWEST", lowest)
    monkeypatch.setattr(ports, "HIGHEST", lowest + 1)
    return [lowest, lowest + 1]


def claiming(folder: Path, owner: Path, *, lowest: int, highest: int, count: int, user: int = 0) -> list[str]:
    numbers = (lowest, highest, count, user)
    return [sys.executable, "-c", CLAIM, str(folder / "claims"), str(owner), *(str(number) for number in numbers)]


def test_a_port_that_somebody_listens_on_is_not_chosen(folder: Path, two: list[int]) -> None:
    with socket.create_server(("127.0.0.1", two[0])):
        assert ports.free_port(folder) == two[1]


def test_processes_that_choose_at_once_never_choose_the_same(folder: Path) -> None:
    argv = claiming(folder, folder, lowest=10000, highest=12999, count=250)
    processes = [subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) for _ in range(4)]
    chosen = [port for process in processes for port in process.communicate()[0].split()]
    assert len(set(chosen)) == len(chosen) == 1000


def test_a_claim_lasts_as_long_as_its_owner(folder: Path, two: list[int]) -> None:
    first, second = folder / "first", folder / "second"
    first.mkdir()
    second.mkdir()
    port = ports.free_port(first)
    other = ports.free_port(second)
    assert sorted([port, other]) == two
    first.rmdir()
    assert ports.free_port(second) == port


def test_nothing_is_claimed_for_an_owner_that_does_not_exist(folder: Path) -> None:
    with pytest.raises(FileNotFoundError):
        ports.free_port(folder / "nowhere")


def test_kept_ports_are_claimed_again_after_the_claims_were_swept_away(folder: Path, two: list[int]) -> None:
    kept = ports.kept_ports(folder / "system" / "ports.json", ["only"])
    shutil.rmtree(ports.CLAIMS)
    assert ports.kept_ports(folder / "system" / "ports.json", ["only"]) == kept
    assert ports.free_port(folder) not in kept.values()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be several users")
def test_claims_of_another_user_are_kept_in_a_closed_folder_and_avoided_when_void(folder: Path, two: list[int]) -> None:
    for_all, closed = folder / "for-all", folder / "closed"
    closed.mkdir(mode=0o700)
    owner = closed / "owner"
    owner.mkdir()
    for_all.mkdir()
    claimed = ports.free_port(owner)
    (left,) = {*two} - {claimed}
    argv = claiming(folder, for_all, lowest=two[0], highest=two[1], count=1, user=65534)
    assert int(subprocess.check_output(argv)) == left
    # Their claim and ours are void now: they can only take back their own.
    owner.rmdir()
    for_all.rmdir()
    closed.chmod(0o755)
    for_all.mkdir()
    (ports.CLAIMS / str(left)).unlink()
    assert int(subprocess.check_output(argv)) == left
