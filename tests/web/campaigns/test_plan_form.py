"""What the form of a plan refuses, in sentences with their remedy."""

from typing import Any
from urllib.parse import urlencode

import pytest
from django.http import QueryDict
from django.utils import timezone

from apps.dispatch.models import Campaign
from apps.web.campaigns.plan import PlanForm
from tests.support.builders import a_system, a_user
from tests.web.campaigns.pages import a_form


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("name", "", "is empty: state the campaign's question"),
        ("systems", [], "none is chosen: choose at least one"),
        ("systems", ["gone"], "gone is not a system in use"),
        ("workloads", [], "none is chosen: choose at least one"),
        ("threads", "1, four", "'four' is not a number of threads"),
        ("threads", "0", "'0' is not a number of threads"),
        ("threads", "", "none is given: give at least one number of threads"),
        ("repetitions", "0", "0 is out of range: use 1 to 100"),
        ("repetitions", "many", "is not a number"),
        ("warmup", "-1", "-1 s is out of range"),
        ("warmup", "", "is empty: write a number"),
        ("duration", "0", "0 s is out of range"),
        ("duration", "nan", "is not a number"),
        ("test", "made_up", "is not a known sysbench test"),
    ],
)
def test_a_field_that_is_wrong_is_refused_with_the_remedy(db: None, field: str, value: Any, said: str) -> None:
    a_system("a"), a_system("b")
    form = PlanForm(QueryDict(urlencode(a_form(**{field: value}), doseq=True)))
    assert form.plan(user=a_user(), now=timezone.now()) is None
    assert said in form.errors[field][0]
    assert [problem.field for problem in form.problems()] == [field]
    assert not Campaign.objects.exists()


def test_a_plan_that_is_too_large_is_refused_as_a_whole(db: None) -> None:
    systems = [a_system(f"s{number}").slug for number in range(101)]
    form = PlanForm(QueryDict(urlencode(a_form(systems=systems, repetitions="100"), doseq=True)))
    assert form.plan(user=a_user(), now=timezone.now()) is None
    assert "10,100 jobs" in form.non_field_errors()[0]
