"""What `--output` names stays what it is. All special files here are in folders of the tests: FIFOs and links."""

import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from splashboard import files
from splashboard.failures import Misuse

CLIENT = Path(files.__file__).resolve().parents[1]


def test_a_link_stays_a_link_and_its_target_is_written_whole(tmp_path: Path) -> None:
    (tmp_path / "reports").mkdir()
    target, link = tmp_path / "reports" / "gate.md", tmp_path / "latest.md"
    link.symlink_to(target)
    files.write(str(link), "first")  # there is no target yet
    target.chmod(0o640)
    before = target.stat().st_ino
    files.write(str(link), "second")
    assert link.is_symlink()
    assert target.read_text() == "second"
    assert target.stat().st_ino != before  # another file took its place at once
    assert stat.S_IMODE(target.stat().st_mode) == 0o640
    assert [each.name for each in (tmp_path / "reports").iterdir()] == ["gate.md"]


def test_what_cannot_be_written_leaves_the_old_report_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    report, loop = tmp_path / "gate.md", tmp_path / "loop"
    files.write(str(report), "old")
    loop.symlink_to(loop)
    for path in (loop, tmp_path):
        with pytest.raises(Misuse, match=f"{path} cannot be written: "):
            files.write(str(path), "text")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(Misuse, match="No space left on device"):
        files.write(str(report), "new")
    assert report.read_text() == "old"
    assert sorted(each.name for each in tmp_path.iterdir()) == ["gate.md", "loop"]


@pytest.mark.parametrize("linked", [False, True])
def test_a_fifo_is_written_to(tmp_path: Path, linked: bool) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    path = fifo
    if linked:
        path = tmp_path / "link"
        path.symlink_to(fifo)
    read: list[str] = []
    reader = threading.Thread(target=lambda: read.append(fifo.read_text()))
    reader.start()
    files.write(str(path), "a report\n")
    reader.join(10)
    assert read == ["a report\n"]
    assert stat.S_ISFIFO(fifo.stat().st_mode)


@pytest.mark.parametrize("into_file", [False, True])
def test_our_own_output_gets_all_of_it_in_order(tmp_path: Path, into_file: bool) -> None:
    link, out = tmp_path / "stdout", tmp_path / "out"
    link.symlink_to("/proc/self/fd/1")  # as /dev/stdout is
    code = f"from splashboard import files; files.write({str(link)!r}, 'report, '); print('table')"
    with out.open("wb") as stream:
        said = subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONPATH": str(CLIENT)},
            stdout=stream if into_file else subprocess.PIPE,
            check=True,
        )
    assert (out.read_bytes() if into_file else said.stdout) == b"report, table\n"
    assert link.is_symlink()


def test_a_file_that_lost_its_name_is_written_to_where_it_is(tmp_path: Path) -> None:
    lost = tmp_path / "lost"
    with lost.open("w+") as stream:
        lost.unlink()
        files.write(f"/proc/self/fd/{stream.fileno()}", "text")
        assert stream.read() == "text"
    assert list(tmp_path.iterdir()) == []
