"""`manage.py campaign` starts a campaign from a file, follows it, and says everything that is wrong with the file."""

import subprocess
import sys
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from apps.dispatch.campaigns import file as campaigns_file
from apps.dispatch.models import Campaign
from tests.dispatch.campaigns.test_file import WHOLE, WORKLOAD
from tests.support.builders import a_job, a_system, an_agent

SCHEMA = Path(campaigns_file.__file__).parent / "campaign.schema.json"


@pytest.fixture
def file(tmp_path: Path, db: None) -> Path:
    a_system("a"), a_system("b")
    path = tmp_path / "plan.yaml"
    path.write_text(WHOLE)
    return path


def said(*arguments: str) -> str:
    out = StringIO()
    call_command("campaign", *arguments, stdout=out)
    return out.getvalue()


def test_start_plans_and_matches_at_once_and_says_that_again_is_another(file: Path) -> None:
    an_agent(a_system("c"), last_seen_at=timezone.now())
    words = said("start", str(file), "--system", "a=c", "--repetitions", "1")
    campaign = Campaign.objects.get()
    assert f"Campaign {campaign.pk}, 'small and large': 7 jobs planned; page /campaigns/{campaign.pk}/" in words
    assert "plans another campaign" in words
    assert campaign.jobs.get(state="matched").system.slug == "c"


def test_check_says_the_size_and_stores_nothing(file: Path) -> None:
    assert f"{file}: valid; 14 jobs, 42 runs, at most about" in said("check", str(file))
    assert not Campaign.objects.exists()


def test_one_job_is_not_several(file: Path) -> None:
    file.write_text(
        f"name: x\nsystems: [a]\nload_levels: [1]\nduration: 5\nrepetitions: 1\nworkloads: [{{{WORKLOAD}}}]\n"
    )
    assert ": 1 job planned" in said("start", str(file))


def test_every_problem_names_the_file_the_field_and_the_remedy(file: Path) -> None:
    file.write_text(WHOLE.replace("repetitions: 2", "repetitions: 0").replace("[a, b]", "[a, x]"))
    for command in ("start", "check"):
        with pytest.raises(CommandError) as refused:
            said(command, str(file))
        lines = str(refused.value).splitlines()
        assert lines[0].startswith(f"{file}: repetitions: line 4: is 0 (use a whole number from 1 to 100")
        assert lines[1].startswith(f"{file}: systems.1: line 3: there is no system 'x' (start the agent")
        assert lines[-1] == "Nothing was started."


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="cannot be read: No such file"):
        said("check", str(tmp_path / "nowhere.yaml"))


def test_status_tells_progress_and_what_went_wrong(db: None) -> None:
    job = a_job(state="failed")
    words = said("status", str(job.campaign_id))
    assert words.startswith("failed: 1 of 1 jobs, 0 of 2 runs, 1 jobs failed")
    assert f"job {job.pk}, oltp_write_only on {job.system.slug}: failed: a reason" in words
    with pytest.raises(CommandError, match=f"campaign {job.campaign_id} ended as failed"):
        said("status", str(job.campaign_id), "--wait")
    with pytest.raises(CommandError, match="there is no campaign 4711"):
        said("status", "4711")


def test_an_editor_that_reads_the_published_schema_takes_what_the_product_takes(file: Path) -> None:
    checker = Path(sys.executable).parent / "check-jsonschema"
    ours = sorted(Path("campaigns").glob("*.yaml"))
    command = [str(checker), "--schemafile", str(SCHEMA), str(file), *map(str, ours)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    file.write_text(WHOLE.replace("repetitions: 2", "repetitions: 0"))
    assert subprocess.run(command, capture_output=True, check=False).returncode == 1
