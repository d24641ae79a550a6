"""A disk that uploads really fill: a file system of 2 MiB, in a mount namespace of the web server's own."""

import hashlib
import random
import subprocess
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from django.utils import timezone

from apps.dispatch.jobs import leases
from apps.runs.models import Artifact
from tests.e2e.stack import Stack
from tests.rest.talk import SECRET, V1, a_run_message, the_agent
from tests.support.builders import a_campaign
from tests.support.waiting import LIMIT, eventually
from workers.protocol import wire

SIZE, LARGER = "2m", "16m"
FILE = 300_000  # bytes
MOUNT = 'mount -t tmpfs -o size={size},mode=0700 none "$0" && exec "$@"'


class SmallDiskStack(Stack):
    """The web server's artifacts are on a disk of their own, which ends with it."""

    @property
    def environment(self) -> dict[str, str]:
        return {**super().environment, "SPLASHBOARD_LEAST_FREE_MB": "0"}  # else it would stop before the disk is full

    @property
    def artifacts(self) -> Path:
        return self.var / "artifacts"

    def _spawn(self, name: str, *command: str) -> None:
        self.artifacts.mkdir(parents=True, exist_ok=True)
        super()._spawn(name, *within(self.artifacts, *command))

    def seen(self) -> dict[str, bytes]:
        """Files on that disk, as the server sees them."""
        folder = Path(f"/proc/{self._running['web'].pid}/root{self.artifacts}")
        return {path.name: path.read_bytes() for path in folder.rglob("*") if path.is_file()}

    def enlarge(self) -> None:
        namespace = ("nsenter", "--target", str(self._running["web"].pid), "--mount")
        remount = ("mount", "-o", f"remount,size={LARGER}", str(self.artifacts))
        subprocess.run([*namespace, *remount], check=True, timeout=LIMIT)


def within(folder: Path, *command: str) -> tuple[str, ...]:
    return ("unshare", "--mount", "sh", "-c", MOUNT.format(size=SIZE), str(folder), *command)


def why_not(folder: Path) -> str:
    """Why no file system may be mounted here; empty: it may."""
    try:
        tried = subprocess.run(
            within(folder, "nsenter", "--version"), capture_output=True, text=True, check=False, timeout=LIMIT
        )
    except FileNotFoundError as missing:
        return str(missing)
    return tried.stderr.strip() or "unshare fails" if tried.returncode else ""


@pytest.fixture
def server(transactional_db: None, tmp_path: Path) -> Iterator[SmallDiskStack]:
    if why := why_not(tmp_path):
        pytest.skip(f"no disk of its own can be mounted: {why}")
    running = SmallDiskStack(tmp_path, tmp_path / "var")
    try:
        running.start_web()
        yield running
    finally:
        running.close()


def test_a_full_disk_costs_nothing_that_was_acknowledged_and_leaves_no_half_of_a_file(server: SmallDiskStack) -> None:
    the_agent(a_campaign(threads=(1,)).jobs.get().system)
    leases.match_jobs(now=timezone.now())
    http = httpx.Client(base_url=f"{server.url}{V1}/", headers={"Authorization": f"Agent {SECRET}"}, timeout=LIMIT)
    with http:
        job = wire.from_json(wire.JobMessage, http.post("claim").content)
        run = f"runs/{job.runs[0].uid}"
        opened = http.put(run, content=wire.to_json(a_run_message(job)), headers={"Content-Type": "application/json"})
        assert opened.status_code == 201, opened.text
        chance = random.Random("a full disk")
        files = [chance.randbytes(FILE) for _ in range(10)]

        def put(number: int) -> httpx.Response:
            content = files[number]
            return http.put(
                f"{run}/artifacts/{number}.bin", content=content, headers={"X-Checksum": wire.checksum(content)}
            )

        answers = [put(number) for number in range(len(files))]
        full = next(number for number, answer in enumerate(answers) if answer.status_code != 201)
        assert 3 <= full <= 7, [answer.text for answer in answers]
        assert {answer.status_code for answer in answers[full:]} == {507}
        assert answers[full].json()["type"] == "urn:splashboard:problem:disk-full"
        page = httpx.get(f"{server.url}/agents/", timeout=LIMIT)
        assert (page.status_code, 'data-state="read-only"' in page.text) == (200, True)
        kept = {hashlib.sha256(content).hexdigest(): content for content in files[:full]}
        assert server.seen() == kept
        assert set(Artifact.objects.values_list("sha256", flat=True)) == set(kept)

        server.enlarge()
        eventually(lambda: put(full).status_code == 201, what="it is accepted once there is room")
        assert server.seen() == kept | {hashlib.sha256(files[full]).hexdigest(): files[full]}
