"""Runs recorded of real servers: known troubles light exactly the checks that are there for them."""

from collections.abc import Callable

import pytest

from apps.runs import seal
from apps.runs.models import Run, RunCheck
from tests.runs.quality.recorded import Recording, Values, checked, loads, samples, the_recording
from tests.runs.uploads import Samples

pytestmark = pytest.mark.django_db

Change = Callable[[float, Values], Values | None]
SINGLE = [f"single_120s/{name}.txt" for name in ("phase1_ro_t1", "phase2_rw_t4_rate200", "phase3_rw_t16")]
# At a rate that left the machine room: nothing is wrong with it.
QUIET = the_recording("single_120s/phase4_wo_t32_rate1500.txt", "single", 3)


def failing(output: str, nodes: dict[str, Samples]) -> list[str]:
    run, _ = checked(output, nodes)
    return run.failed_checks


def changed(change: Change) -> dict[str, Samples]:
    return {"db1": samples(QUIET, change)}


def test_a_run_with_room_passes_all_that_can_be_checked() -> None:
    run, found = checked(QUIET.output, {"db1": samples(QUIET)})
    assert run.failed_checks == []
    passed = {key for key, check in found.items() if check.status == "passed"}
    assert passed == {"happened", "agreement", "asked", "standstill", "errors", "generator", "neighbours", "sampling"}
    assert {check.status for key, check in found.items() if key not in passed} == {"cannot_tell"}
    assert all(check.evidence.endswith(".") for check in found.values())


@pytest.mark.parametrize(("place", "output"), list(enumerate(SINGLE)))
def test_client_and_server_agree_on_real_loads_and_a_generator_on_the_servers_cpus_is_marked(
    place: int, output: str
) -> None:
    recording = the_recording(output, "single", place)
    run, found = checked(output, {"db1": samples(recording)})
    assert run.failed_checks == ["generator"]
    counts = found["happened"].detail
    assert counts["statements.servers"] == pytest.approx(counts["statements.client"], rel=0.01)


def test_a_hot_table_written_on_all_nodes_fails_for_its_errors() -> None:
    start, end, _ = loads("g1")[2]
    nodes = {name: samples(Recording("", name, start, end - start)) for name in ("g1", "g2", "g3")}
    run, found = checked("galera_120s/phase3_hot_allwriters_t12.txt", nodes)
    assert run.failed_checks == ["errors"]
    assert found["errors"].detail["share"] > 0.7
    assert found["happened"].status == "passed"


@pytest.mark.parametrize(
    "output",
    [
        "sysbench_errors/deadlocks_hot_t16.txt",
        "sysbench_errors/server_killed_fatal_t4.txt",
        "sysbench_galera/haproxy_allwriters_hot_wo_t12.txt",
    ],
)
def test_deadlocks_and_a_killed_server_fail_for_their_errors_alone(output: str) -> None:
    assert failing(output, {}) == ["errors"]


def test_a_lost_connection_is_named_with_its_code() -> None:
    _, found = checked("sysbench_errors/server_killed_fatal_t4.txt", {})
    assert "× error 2013, which loses a connection" in found["errors"].evidence


def test_a_client_that_claims_more_than_the_server_did_fails() -> None:
    def slower(_: float, values: Values) -> Values:
        return values | {key: int((value or 0) * 0.7) for key, value in values.items() if key.startswith("mysql.")}

    assert failing(QUIET.output, changed(slower)) == ["happened"]


def test_statements_of_others_are_noisy_neighbours() -> None:
    def busier(at: float, values: Values) -> Values:
        return values | {"mysql.status.Questions": int(values["mysql.status.Questions"] or 0) + int(3000 * at)}

    assert failing(QUIET.output, changed(busier)) == ["neighbours"]


def test_stolen_time_is_a_noisy_neighbour() -> None:
    def stolen(at: float, values: Values) -> Values:
        return values | {"host.cpu.steal": 0.1 * at}

    assert failing(QUIET.output, changed(stolen)) == ["neighbours"]


def test_a_gap_in_the_samples_is_found_wherever_it_lies() -> None:
    assert failing(QUIET.output, changed(lambda at, values: None if 8 < at < 15 else values)) == ["sampling"]
    assert failing(QUIET.output, changed(lambda at, values: None if at > 14 else values)) == ["sampling"]
    assert failing(QUIET.output, changed(lambda at, values: None if 8 < at < 9.5 else values)) == []


def test_packets_sent_again_are_the_networks_fault() -> None:
    def lossy(at: float, values: Values) -> Values:
        return values | {"host.tcp.retransmits": int(4000 * at)}

    assert failing(QUIET.output, changed(lossy)) == ["network"]


def test_a_busy_host_of_the_generators_own_is_its_limit() -> None:
    def idle(at: float, values: Values) -> Values:
        return {key: value for key, value in values.items() if not key.startswith(("host.", "process."))}

    def own(busy: float) -> Samples:
        cpu = {"host.cpu.user": busy * 4, "host.cpu.idle": (1 - busy) * 4, "host.cpu.steal": 0.0}
        rest = dict.fromkeys((f"host.cpu.{state}" for state in ("nice", "system", "irq", "softirq", "iowait")), 0.0)
        return [(float(t), {key: rate * t for key, rate in (cpu | rest).items()} | {"host.cpus": 4}) for t in range(23)]

    nodes = changed(idle)
    assert failing(QUIET.output, nodes | {"agent": own(0.5)}) == []
    assert failing(QUIET.output, nodes | {"agent": own(0.95)}) == ["generator"]


def test_a_run_without_an_agent_cannot_tell_what_nobody_saw() -> None:
    run, found = checked("sysbench_single/oltp_read_write_t4_p95_hist.txt", {})
    assert run.failed_checks == []
    unseen = ("happened", "generator", "network", "neighbours", "sampling")
    assert {found[key].status for key in unseen} == {"cannot_tell"}


def test_a_made_up_run_is_not_checked() -> None:
    run, _ = checked(QUIET.output, {"db1": samples(QUIET)})
    Run.objects.filter(pk=run.pk).update(provenance="rig")
    RunCheck.objects.all().delete()
    seal.reseal(run_id=run.pk)
    assert not RunCheck.objects.exists()
