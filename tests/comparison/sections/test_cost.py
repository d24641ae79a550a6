"""What sides cost: prices of all nodes, the cost of a million transactions, and whether larger hardware is worth it."""

from datetime import date, timedelta
from decimal import Decimal
from typing import Any

import numpy as np
import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from apps.catalog.models import HardwareClass, Node, System
from apps.comparison import compare
from apps.comparison.comparability.acknowledgements import acknowledge
from apps.comparison.sections import cost, serialisation
from apps.comparison.sections.cost import ComparedCost
from apps.comparison.stats import multiple_testing, welch
from apps.comparison.stats.replicates import Sample
from tests.support.builders import START, a_load_level, a_measured_run, a_system, a_user, a_workload
from tests.support.pages import squeezed

pytestmark = pytest.mark.django_db

TPS = "client.throughput"
A = (1000.0, 1012.0, 991.0)
B = (2602.0, 2638.0, 2587.0)


def a_box(slug: str, *, vcpu: int | None = 4, price: str | None = "0.2", source: str = "the list") -> HardwareClass:
    return HardwareClass.objects.create(
        slug=slug,
        name=slug,
        vcpu=vcpu,
        price_per_hour=None if price is None else Decimal(price),
        price_source=source if price else "",
        price_date=date(2026, 1, 2) if price else None,
    )


def measure(
    system: System, values: tuple[float, ...], *, threads: int = 4, at: int = 0, rate: float | None = None
) -> None:
    for number, value in enumerate(values):
        a_measured_run(
            {TPS: value},
            system=system,
            load_level=a_load_level(threads, rate),
            repetition=number + 1,
            started_at=START + timedelta(hours=at, minutes=number),
        )


@pytest.fixture
def boxes(db: None) -> tuple[System, System]:
    """The same release on a small and on a large box: 3 times the price, 4 times the vCPU, 2.6 times the throughput."""
    small = a_system("small-box", hardware_class=a_box("s", vcpu=4, price="0.2"))
    large = a_system("large-box", hardware_class=a_box("l", vcpu=16, price="0.6"))
    measure(small, A)
    measure(large, B)
    return small, large


def costs(*sides: str, **fields: Any) -> ComparedCost:
    wanted = {"sides": sides or ("small-box", "large-box"), "workload_id": a_workload().pk, **fields}
    found = cost.cost_of(compare.compare(**wanted))
    assert found is not None
    return found


def test_a_million_transactions_cost_the_hour_over_what_an_hour_completes(boxes: tuple[System, System]) -> None:
    found = costs()
    cell = found.cells[0]
    assert [each.value for each in cell.replicates] == pytest.approx([0.2 / (tps * 3600) * 1e6 for tps in A])
    assert (found.work, found.metric.unit, found.metric.direction.value) == ("transactions", "USD", "lower")
    assert cost.per_million(0.6, 120.0, "orders/min") == pytest.approx(0.6 / 7200 * 1e6)


def test_the_ratio_of_costs_is_that_of_prices_over_that_of_throughput_with_its_interval(
    boxes: tuple[System, System],
) -> None:
    ratio = costs().cells[1].ratio
    throughput = welch.compare(Sample(A), Sample(B))
    assert ratio is not None
    assert throughput.value
    assert throughput.low
    assert throughput.high
    expected = [3 / each for each in (throughput.value, throughput.high, throughput.low)]
    assert [ratio.value, ratio.low, ratio.high] == pytest.approx(expected)


def test_a_cheaper_transaction_is_better_and_other_hardware_withholds_the_verdict_until_accepted(
    boxes: tuple[System, System],
) -> None:
    assert costs().cells[1].words == "verdict withheld"
    found = compare.compare(sides=["small-box", "large-box"], workload_id=a_workload().pk)
    acknowledge(differences=found.obstacles, by=a_user(), reason="the large one is the next larger size on offer")
    assert costs().cells[1].words == "worse"
    assert costs("large-box", "small-box").cells[1].words == "better"


@pytest.mark.parametrize(("idle", "named"), [("large-box", "this side"), ("small-box", "the baseline")])
def test_a_side_of_which_a_run_did_no_work_has_no_ratio_of_costs(
    boxes: tuple[System, System], idle: str, named: str, client: Client
) -> None:
    measure(next(box for box in boxes if box.slug == idle), (0.0,), at=1)
    asked = f"side=small-box&side=large-box&workload={a_workload().pk}"
    answer = client.get(f"/api/v1/comparisons/?{asked}&include=cost").json()
    (cell,) = (each for each in answer["cost"]["cells"] if each["side"] == "large-box")
    (of_throughput,) = (each for each in answer["cells"] if (each["side"], each["metric"]) == ("large-box", TPS))
    assert cell["words"] == of_throughput["words"] == "no ratio"
    assert cell["ratio"]["value"] is None
    assert cell["ratio"]["reason"].startswith(f"a run of {named} did no work")


def test_every_node_is_paid_for_but_the_load_generator(boxes: tuple[System, System]) -> None:
    small, _ = boxes
    proxy = a_box("proxy", vcpu=2, price="0.05", source="our contract")
    for name, role, hardware in (
        ("db2", "reader", small.hardware_class),
        ("db3", "reader", small.hardware_class),
        ("haproxy", "proxy", proxy),
        ("load", "client", proxy),
    ):
        Node.objects.create(system=small, name=name, role=role, hardware_class=hardware)
    side = costs().sides[0]
    assert side.usd_per_hour == pytest.approx(0.65)
    assert side.usd_per_month == pytest.approx(0.65 * 730)
    assert (side.nodes, side.vcpu) == (4, 14)
    assert [(each.count, each.slug, each.price_source, each.price_date) for each in side.machines] == [
        (3, "s", "the list", date(2026, 1, 2)),
        (1, "proxy", "our contract", date(2026, 1, 2)),
    ]


def an_aws_price(usd: str | None, source: str) -> dict[str, str | None]:
    return {"kind": "AWS price list, on demand", "asked_at": START.isoformat(), "usd_per_hour": usd, "source": source}


def test_systems_at_aws_on_one_class_have_each_the_price_of_its_own_engine_and_deployment(
    boxes: tuple[System, System],
) -> None:
    listed = "AWS price list, on demand: "
    shared = a_box("r6g", price="0.26", source=f"{listed}Aurora MySQL, Single-AZ, eu-west-1")
    HardwareClass.objects.filter(pk=shared.pk).update(instance_type="db.r6g.large")
    System.objects.update(hardware_class=shared)
    Node.objects.update(hardware_class=shared)
    for system, price in zip(boxes, ("0.26", "0.41"), strict=True):
        own = an_aws_price(price, f"{listed}{system.slug}")
        System.objects.filter(pk=system.pk).update(aws_prices={"db.r6g.large": own})
    first, second = costs().sides
    assert (first.usd_per_hour, second.usd_per_hour) == (0.26, 0.41)
    assert second.machines[0].price_source == f"{listed}large-box"
    System.objects.filter(pk=boxes[1].pk).update(aws_prices={"db.r6g.large": an_aws_price(None, "")})
    assert costs().sides[1].usd_per_hour is None, "that of another deployment is not its price"
    HardwareClass.objects.update(price_per_hour="0.2", price_source="our contract")
    assert [side.usd_per_hour for side in costs().sides] == [0.2, 0.2], "by hand"


def test_one_machine_without_a_price_leaves_the_side_without_a_cost_and_is_named(boxes: tuple[System, System]) -> None:
    Node.objects.create(system=boxes[1], name="proxy", role="proxy", hardware_class=a_box("p", price=None, vcpu=None))
    found = costs()
    side, cell = found.sides[1], found.cells[1]
    assert (side.usd_per_hour, side.usd_per_month, side.unpriced) == (None, None, ("p",))
    assert (cell.summary, found.cells[0].summary is None) == (None, False)
    assert (found.steps[0].price, found.steps[0].vcpu) == (None, None)
    assert found.steps[0].gains[0].per_price is None


def test_prices_of_different_times_are_shown_beside_each_other(boxes: tuple[System, System], client: Client) -> None:
    address = f"/compare/part/cost/?side=small-box&side=large-box&workload={a_workload().pk}"
    assert "of different times" not in client.get(address).content.decode()
    HardwareClass.objects.filter(slug="s").update(price_date=date(2018, 8, 20))
    assert "the oldest of 2018-08-20, the newest of 2026-01-02" in client.get(address).content.decode()


def test_the_same_release_on_larger_hardware_is_held_against_its_price_and_its_vcpu(
    boxes: tuple[System, System],
) -> None:
    (step,) = costs().steps
    assert (step.small, step.large) == ("small-box", "large-box")
    assert (step.price, step.vcpu) == pytest.approx((3, 4))
    (gain,) = step.gains
    throughput = welch.compare(Sample(A), Sample(B))
    assert gain.throughput.value == throughput.value
    assert throughput.low
    assert throughput.high
    assert gain.per_price
    assert gain.per_vcpu
    assert [gain.per_price.low, gain.per_price.high] == pytest.approx([throughput.low / 3, throughput.high / 3])
    assert [gain.per_vcpu.low, gain.per_vcpu.high] == pytest.approx([throughput.low / 4, throughput.high / 4])
    assert (gain.words, gain.vcpu_words) == ("worse", "worse")


def test_whichever_is_the_baseline_the_step_goes_from_small_to_large(boxes: tuple[System, System]) -> None:
    assert costs("large-box", "small-box").steps == costs().steps


def test_a_step_goes_by_what_is_stated_of_both_sides(boxes: tuple[System, System]) -> None:
    """One's vCPU alone says nothing: then the price does, and without it the order of the sides."""
    HardwareClass.objects.filter(slug="l").update(vcpu=None)
    for sides in (("small-box", "large-box"), ("large-box", "small-box")):
        (step,) = costs(*sides).steps
        assert (step.small, step.large, step.vcpu) == ("small-box", "large-box", None)
        assert step.price == pytest.approx(3)
    HardwareClass.objects.filter(slug="l").update(price_per_hour=None, price_source="", price_date=None)
    for sides in (("small-box", "large-box"), ("large-box", "small-box")):
        (step,) = costs(*sides).steps
        assert (step.small, step.large, step.price) == (*sides, None)


def test_each_side_is_also_taken_at_its_own_best_level(boxes: tuple[System, System]) -> None:
    measure(boxes[0], (900.0, 910.0, 905.0), threads=16)
    measure(boxes[1], (5000.0, 5100.0, 5050.0), threads=16)
    best, *each = costs().steps[0].gains
    four, sixteen = a_load_level(4).pk, a_load_level(16).pk
    assert (best.level, best.levels) == (None, (four, sixteen))
    assert best.throughput.value == pytest.approx(welch.compare(Sample(A), Sample((5000.0, 5100.0, 5050.0))).value)
    assert [gain.level for gain in each] == [four, sixteen]


@pytest.fixture
def nights(boxes: tuple[System, System]) -> None:
    """Two further nights at five load levels, each with its own offset on each box; a little is gained per price."""
    random = np.random.default_rng(6)
    for threads in (4, 8, 16, 32, 64):
        for place, (box, level) in enumerate(zip(boxes, (A, tuple(1.1 * each for each in B)), strict=True)):
            for night in range(0 if threads > 4 else 1, 3):
                offset = np.exp(random.normal(0, 0.01 * (1 + place)))
                measure(box, tuple(float(each * offset) for each in level), threads=threads, at=24 * night)


def test_scale_up_and_cost_have_one_interval_for_one_question(nights: None) -> None:
    """Three sessions at each level: variances are moderated over the levels in both."""
    found = costs()
    of_level = {cell.level: cell for cell in found.cells if cell.ratio is not None}
    best, *gains = found.steps[0].gains
    assert best.level is None
    assert len(gains) == 5
    for gain in gains:
        assert gain.level is not None
        ratio = of_level[gain.level].ratio
        assert ratio is not None
        assert ratio.low
        assert ratio.high
        assert gain.per_price
        assert [gain.per_price.low, gain.per_price.high] == pytest.approx([1 / ratio.high, 1 / ratio.low])


def test_a_level_at_a_fixed_rate_shows_no_gain(boxes: tuple[System, System]) -> None:
    for box in boxes:
        measure(box, (500.0, 500.5, 499.5), threads=8, rate=500.0)
    assert [gain.level for gain in costs().steps[0].gains] == [a_load_level(4).pk]


def test_the_same_on_other_hardware_with_runs_is_offered_as_a_side(
    boxes: tuple[System, System], client: Client
) -> None:
    other = a_system("b", hardware_class=boxes[0].hardware_class, settings={"a": "1"})
    measure(other, A)
    a_system("never-ran", hardware_class=a_box("xl"))
    found = costs("small-box", "b")
    assert {each.system for each in found.others} == {"large-box"}
    page = client.get(f"/compare/part/cost/?side=small-box&side=b&workload={a_workload().pk}").content.decode()
    assert "side=small-box&amp;side=b&amp;side=large-box" in page


def test_gains_of_too_few_runs_have_no_interval_and_say_so(boxes: tuple[System, System]) -> None:
    measure(boxes[0], A[:1], threads=1)
    measure(boxes[1], B[:1], threads=1)
    gain = next(gain for gain in costs().steps[0].gains if gain.level == a_load_level(1).pk)
    assert gain.per_price
    assert (gain.words, gain.per_price.low) == ("too few repetitions", None)


def test_other_releases_and_platforms_are_no_scale_up(boxes: tuple[System, System]) -> None:
    other = a_system("same-box", hardware_class=boxes[0].hardware_class, settings={"a": "1"})
    measure(other, A)
    assert costs("small-box", "same-box").steps == ()


def test_scale_ups_without_a_gain_per_price_are_rarely_called_worth_it_or_not() -> None:
    """Twice the price for twice the throughput, at three levels, 500 times: at most 5 % of the tables say anything."""
    random = np.random.default_rng(5)
    small, large = np.exp(random.normal(0, 0.02, (2, 500, 3, 5)))
    said = 0
    for one, other in zip(small, large, strict=True):
        ratios = [welch.draft(Sample(tuple(a)), Sample(tuple(b))) for a, b in zip(one, other, strict=True)]
        said += any(ratio.verdict in ("higher", "lower") for ratio in multiple_testing.correct_for_many(ratios))
    assert said / 500 <= 0.05 + 0.02


def test_what_a_snapshot_keeps_is_what_was_seen(boxes: tuple[System, System]) -> None:
    comparison = compare.compare(sides=["small-box", "large-box"], workload_id=a_workload().pk)
    seen = cost.SECTION.read(comparison, None)
    kept = cost.SECTION.to_json(comparison)["cost"]
    HardwareClass.objects.update(price_per_hour=Decimal(9))
    assert cost.SECTION.from_json(kept) == seen
    assert serialisation.to_json(seen) == kept


def test_the_queries_do_not_grow_with_the_runs(boxes: tuple[System, System]) -> None:
    def asked() -> int:
        comparison = compare.compare(sides=["small-box", "large-box"], workload_id=a_workload().pk)
        with CaptureQueriesContext(
            connection,
        ) as captured:
            cost.cost_of(comparison)
        return len(captured)

    before = asked()
    measure(boxes[0], A * 4, at=5, threads=8)
    measure(boxes[1], B * 4, at=5, threads=8)
    assert asked() == before <= 4


def test_the_page_says_price_source_and_day_and_the_api_the_same_numbers(
    client: Client, boxes: tuple[System, System]
) -> None:
    query = f"side=small-box&side=large-box&workload={a_workload().pk}"
    page = client.get(f"/compare/part/cost/?{query}").content.decode()
    assert "the list" in page
    assert "as of 2026-01-02" in page
    cost = client.get(f"/api/v1/comparisons/?{query}&include=cost").json()["cost"]
    assert [side["usd_per_month"] for side in cost["sides"]] == pytest.approx([146, 438])
    for cell in cost["cells"]:
        assert f'data-value="{cell["summary"]["value"]}"' in page
    assert cost["steps"][0]["price"] == pytest.approx(3)


def test_without_any_price_the_page_says_which_to_state(client: Client) -> None:
    one, other = (a_system(slug, hardware_class=a_box(f"box-{slug}", price=None)) for slug in ("a", "b"))
    measure(one, A)
    measure(other, B)
    page = client.get(f"/compare/part/cost/?side=a&side=b&workload={a_workload().pk}").content.decode()
    assert "No price is known for box-a, box-b" in squeezed(page).replace(" ,", ",")
    assert "USD per million" not in page
