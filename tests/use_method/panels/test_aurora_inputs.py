"""What CloudWatch tells of a run, minute by minute, reaches the rules."""

import numpy as np
import pytest

from apps.catalog.models import HardwareClass, System
from apps.catalog.models import Node as CatalogNode
from apps.runs.models import Run
from apps.runs.samples.columns import SampledNode
from apps.runs.storage import codec
from apps.use_method import engine
from apps.use_method.panels import inputs
from apps.use_method.values import RunFacts, UseLevel
from tests.comparison.sampled import a_node, a_sampled_run
from tests.use_method import builders

pytestmark = pytest.mark.django_db
NODE = "cloudwatch:blast-1"


def facts_of(lag: dict[float, float], *, is_restored: bool = False) -> RunFacts:
    """Of a run measured from 10 s to 70 s on the reader of an Aurora cluster: replica lag by the end of its minute."""
    return facts_of_node(
        a_node(NODE, list(lag), {"aws.rds.AuroraReplicaLag": list(lag.values())}, role="reader"),
        is_restored=is_restored,
    )


def facts_of_node(node: SampledNode, *, is_restored: bool = False) -> RunFacts:
    run = a_sampled_run([node], {})
    Run.objects.filter(pk=run.pk).update(measured_from=10.0, measured_to=70.0)
    place = {"aws_kind": "cluster", "aws_region": "eu-west-1", "aws_identifier": "blast"}
    # An archive leaves the place out.
    System.objects.filter(pk=run.system_id).update(**({} if is_restored else place))
    described = {"vcpu": 2, "memory_bytes": 2**34}
    hardware, _ = HardwareClass.objects.get_or_create(name="db.r6g.large", defaults=described)
    CatalogNode.objects.create(system_id=run.system_id, name="blast-1", role="reader", hardware_class=hardware)
    return inputs.facts(inputs.RELATED.get(pk=run.pk))


def test_minutes_count_by_their_middle_and_not_by_when_they_end() -> None:
    facts = facts_of({25.0: 900.0, 85.0: 15.0, 145.0: 5000.0})
    [node] = facts.nodes
    assert node.series["aws.rds.AuroraReplicaLag"].values.tolist() == [15.0]
    lag = builders.reading(engine.panel(facts), "aurora.lag", NODE)
    assert (lag.level, lag.value) == (UseLevel.OK, 15.0)


def test_a_run_restored_into_another_installation_keeps_its_panel_of_aws() -> None:
    lag = {25.0: 900.0, 85.0: 15.0, 145.0: 5000.0}
    own, restored = (engine.panel(facts_of(lag, is_restored=is_restored)) for is_restored in (False, True))
    found = [builders.reading(panel, "aurora.lag", NODE) for panel in (own, restored)]
    assert found[0] == found[1]
    assert found[0].value == 15.0


@pytest.mark.parametrize(("ends", "length"), [([265.0], "5 min"), ([25.0, 325.0], "10 min")])
def test_values_of_five_minutes_count_whole_beside_those_of_a_minute(ends: list[float], length: str) -> None:
    """All metrics of an instance are on one clock of minutes: four of five rows are without credits."""
    clock = np.arange(-35.0, 446.0, 60.0)
    series: dict[str, list[float | None]] = {
        "aws.rds.AuroraReplicaLag": [15.0 + row for row in range(len(clock))],
        "aws.rds.CPUCreditBalance": [20.0 + row if end in ends else None for row, end in enumerate(clock)],
    }
    columns = {key: codec.column(values) for key, values in series.items()}
    panel = engine.panel(facts_of_node(SampledNode(NODE, "reader", clock, columns, {})))
    credit = builders.reading(panel, "aurora.credits", NODE)
    assert credit.level is UseLevel.WATCH
    assert credit.words.replace("\u00a0", " ").startswith(f"below 30 for {length}")


def test_an_instance_has_the_hardware_of_its_node_in_the_catalog() -> None:
    [node] = facts_of({85.0: 15.0}).nodes
    assert (node.hardware_class, node.hardware_vcpu) == ("db.r6g.large", 2)
    credit = builders.reading(engine.panel(builders.facts(node, aws="cluster")), "aurora.credits", NODE)
    assert credit.words == "its class is not burstable: it has no credits"
