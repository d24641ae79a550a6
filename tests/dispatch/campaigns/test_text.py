"""A campaign written as a file plans the same campaign again."""

import pytest

from apps.dispatch.campaigns import file
from apps.dispatch.campaigns import text as campaigns_text
from apps.dispatch.models import Campaign
from tests.dispatch.campaigns.test_file import WHOLE
from tests.support.builders import a_campaign, a_load_level, a_system, a_user, a_workload, an_entry

pytestmark = pytest.mark.django_db


def plan_of(campaign: Campaign) -> object:
    entries = [
        (
            entry.workload_id,
            entry.warmup,
            entry.duration,
            entry.ends_when_refused,
            entry.least_gain,
            list(entry.load_levels.values_list("threads", "rate")),
        )
        for entry in campaign.entries.all()
    ]
    jobs = list(campaign.jobs.order_by("position").values_list("system__slug", "entry__place", "repetition"))
    return campaign.name, campaign.repetitions, entries, jobs


def test_every_kind_of_load_and_systems_that_take_part_come_back() -> None:
    a_system("a"), a_system("b")
    first = file.start(WHOLE.encode(), by=None)
    again = file.start(campaigns_text.of(first).encode(), by=a_user())
    assert plan_of(again) == plan_of(first)


def test_uneven_steps_become_a_list_with_a_remark() -> None:
    workload = a_workload()
    workload.tool, workload.parameters = "sysbench_oltp", {"test": "oltp_read_only"}
    workload.save()
    uneven = an_entry(workload, threads=(1, 3, 50), ends_when_refused=True, least_gain=0.05)
    arrivals = an_entry(workload, load_levels=[a_load_level(4, 200.5)])
    text = campaigns_text.of(a_campaign(a_system("a"), entries=[uneven, arrivals]))
    assert text.startswith("# Measured at every load level")
    assert "load_levels: [1, 3, 50]" in text
    assert "load_levels: [{threads: 4, rate: 200.5}]" in text
    file.check(text.encode())
