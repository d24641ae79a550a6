"""Every metric key has its entry in the glossary."""

import pytest

from apps.catalog import glossary, workload_docs
from apps.catalog.metrics import derived_metrics, families
from apps.catalog.metrics.counter_rules import MetricSpec
from apps.catalog.metrics.standard import CURATED
from tests.paths import DOCS

GLOSSARY, WORKLOADS_PAGE = DOCS / "reference" / "metrics.md", DOCS / "reference" / "workloads.md"


def test_every_metric_has_its_entry_as_the_table_has_it() -> None:
    text = GLOSSARY.read_text(encoding="utf-8")
    assert [key for key in EVERY if f"| `{key}` |" not in text] == []
    assert text == glossary.with_entries(text), "run manage.py write_glossary"


def test_the_workloads_page_has_every_workload_as_it_is_declared() -> None:
    text = WORKLOADS_PAGE.read_text(encoding="utf-8")
    assert text == workload_docs.with_entries(text), "run manage.py write_glossary"


def test_a_glossary_without_its_marks_is_not_overwritten() -> None:
    with pytest.raises(ValueError, match="must hold the lines"):
        glossary.with_entries("# Glossary")


EVERY = {**CURATED, **{spec.key: spec for spec in (*families.FAMILIES, *derived_metrics.ALL)}}


@pytest.mark.parametrize("spec", EVERY.values(), ids=EVERY.keys())
def test_every_metric_says_what_it_is(spec: MetricSpec) -> None:
    assert spec.kind in {"counter", "gauge", "distribution"}
    assert spec.direction in {"higher", "lower", "neutral"}
    assert spec.aspect in {"", "utilization", "saturation", "errors"}
    assert spec.resource or not spec.aspect or spec.key.startswith("client.")
    assert spec.description.endswith(".")
    assert len(spec.name) <= 160
    assert len(spec.resource) <= 40
