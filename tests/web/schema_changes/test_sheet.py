"""Texts of schema changes: the answers of a setting, what was not observed, and the label of a chart."""

import pytest

from apps.comparison.api import ChangeFilter, schema_changes
from apps.web.schema_changes.sheet import ChangeSheet, charts_of, sheet
from tests.comparison.schema_changes.altered import an_altered_run
from tests.support.builders import a_system

pytestmark = pytest.mark.django_db


def the_sheet() -> ChangeSheet:
    return sheet(schema_changes(ChangeFilter()), ())


def test_an_answer_names_the_longest_time_without_a_transaction_of_each_system() -> None:
    one, other = a_system("galera"), a_system("single")
    an_altered_run("copy", system=one, detail={"gap": 6.25, "metadata_lock_wait": 0.1, "metadata_lock_queue": 8})
    an_altered_run("instant", system=one)
    an_altered_run("copy", system=other, detail={"gap": 5.5})
    (setting,) = the_sheet().settings
    assert setting.answers == (
        "COPY: longest time without a transaction 6.25\xa0s on galera, 5.50\xa0s on single",
        "INSTANT: longest stall 0\xa0s on galera",
    )
    assert setting.manners[0].rows[0].cells[-1].below == ("8 behind it",)
    assert setting.manners[0].rows[1].cells[-1].text == "not observable: the process list was not sampled"


def test_a_chart_is_described_by_its_worst_values() -> None:
    run = an_altered_run("copy", system=a_system("single"))
    (chart,) = charts_of(the_sheet())
    label = (
        "Throughput of 1 run of single, COPY: lowest 0\xa0transactions/s, 1 s after its start. Latency, p99 of 1 run"
    )
    assert chart.label.startswith(label)
    extreme = chart.panels[0].lines[0].extreme
    assert extreme is not None
    assert extreme.text.startswith(f"run {run.pk}: lowest 0")
