"""What no agent of ours says is refused by its field, or stored as far as it can be, and troubles no other agent."""

from typing import Any

import pytest
from msgspec import structs

from apps.catalog.models import System
from apps.core import limits
from apps.dispatch.models import Job, JobRun
from apps.runs.api import streams
from apps.runs.models import Run, StreamBatch
from tests.rest.talk import Talk, a_batch, a_run_message, an_end, the_agent
from tests.runs.uploads import an_open_run
from tests.support.builders import a_campaign, a_job, a_system
from workers.protocol import wire

HARDWARE = [wire.HardwareMessage(slug="box", name="box", vcpu=2, memory_bytes=2**30)]


def a_system_message(slug: str, **fields: Any) -> wire.SystemMessage:
    usual = {"name": slug, "platform": "mariadb", "version": "10.11.19", "hardware_class": "box"}
    return wire.SystemMessage(slug=slug, **{**usual, **fields})


def hello(talk: Talk, **fields: Any) -> list[str]:
    """The warnings."""
    usual = {"version": "1", "systems": [a_system_message("mine")], "hardware": HARDWARE}
    answer = talk.say("POST", "hello", wire.HelloMessage(**{**usual, **fields}))
    assert answer.status_code == 200, answer.content
    return wire.from_json(wire.HelloAnswer, answer.content).warnings


def test_a_report_with_nul_is_kept_with_a_visible_sign_in_its_place(talk: Talk) -> None:
    agent = the_agent()
    described = a_system_message("mine", settings={"a": "b\0"})
    hello(talk, version="1\0", labels=["eu\0"], health={"word\0": ["x\0"]}, systems=[described])
    agent.refresh_from_db()
    assert (agent.version, agent.health) == ("1\\x00", {"word\\x00": ["x\\x00"]})
    assert agent.labels == ["eu\\x00", "system:mine"]
    assert System.objects.get().settings == {"a": "b\\x00"}


@pytest.mark.parametrize(
    ("field", "depth"), [("health", 30), ("health", 900), ("health", 100_000), ("unknown", 100_000)]
)
def test_a_message_nested_too_deep_is_refused_with_the_bound(talk: Talk, field: str, depth: int) -> None:
    the_agent()
    usual = wire.to_json(wire.HelloMessage(version="1", systems=[], hardware=HARDWARE))
    body = usual[:-1] + b',"%s":{"a":%s}}' % (field.encode(), b"[" * depth + b"]" * depth)
    answer = talk.say("POST", "hello", body)
    assert (answer.status_code, "deeper than 20 levels" in answer.json()["detail"]) == (400, True), answer.content


def test_what_is_too_long_in_a_report_is_left_out_and_named(talk: Talk) -> None:
    agent = the_agent()
    said = hello(talk, labels=["eu", "x" * 101], health={"words": "x" * limits.HEALTH})
    agent.refresh_from_db()
    assert (agent.labels, agent.health) == (["eu", "system:mine"], {})
    assert [words for words in said if "more than 100 characters" in words]
    assert [words for words in said if "health has more than" in words]


@pytest.mark.parametrize(
    "fields",
    [
        {"nodes": [wire.NodeMessage(name="x" * 81)]},
        {"nodes": [wire.NodeMessage(name="a", zone="x" * 41)]},
        {"nodes": [wire.NodeMessage(name="a"), wire.NodeMessage(name="a")]},
        {"hardware_class": "huge"},
    ],
)
def test_a_system_that_cannot_be_stored_is_named_and_the_others_are_served(talk: Talk, fields: dict[str, Any]) -> None:
    agent = the_agent()
    huge = wire.HardwareMessage(slug="huge", name="huge", vcpu=2**40, memory_bytes=2**70)
    systems = [a_system_message("odd", **fields), a_system_message("mine")]
    said = hello(talk, systems=systems, hardware=[*HARDWARE, huge])
    agent.refresh_from_db()
    assert agent.labels == ["system:mine"]
    assert [words for words in said if "'odd' gets no jobs" in words]


def test_progress_and_reasons_with_nul_are_kept(talk: Talk) -> None:
    the_agent(a_campaign(threads=(1,)).jobs.get().system)
    claimed = talk.claim()
    renewed = talk.say("POST", f"jobs/{claimed.id}/renew", wire.RenewMessage(attempt=1, progress="4\0threads"))
    assert (renewed.status_code, Job.objects.get().progress) == (200, "4\\x00threads")
    uid = claimed.runs[0].uid
    talk.say("PUT", f"runs/{uid}", a_run_message(claimed))
    end = an_end("failed", batches=0, reason="no\0room")
    assert talk.say("POST", f"runs/{uid}/end", end).status_code == 200
    ended = talk.say("POST", f"jobs/{claimed.id}/end", wire.JobEndMessage(attempt=1, outcome="failed", reason="a\0b"))
    assert (ended.status_code, Job.objects.get().reason) == (200, "attempt 1: a\\x00b")
    assert Run.objects.get().reason == "no\\x00room"


@pytest.mark.parametrize("fact", ["clock_ahead_seconds", "clock_uncertainty_seconds"])
@pytest.mark.parametrize("value", ["x", [1], True, 1e300, 10**30])
def test_a_clock_that_is_no_number_is_refused_by_its_field(talk: Talk, fact: str, value: object) -> None:
    the_agent(a_campaign(threads=(1,)).jobs.get().system)
    claimed = talk.claim()
    message = structs.replace(a_run_message(claimed), host={fact: value})
    refused = talk.say("PUT", f"runs/{claimed.runs[0].uid}", message)
    assert (refused.status_code, refused.json()["errors"][0]["field"]) == (422, f"host.{fact}")
    assert not Run.objects.exists()


def test_samplers_are_told_of_the_other_runs_where_one_has_an_odd_clock(talk: Talk) -> None:
    the_agent()
    for slug, host in (("odd", {"clock_ahead_seconds": "x"}), ("fine", {"clock_ahead_seconds": 2})):
        job = a_job(systems=[a_system(slug)], state="running")
        run = an_open_run(system=job.system, workload=job.workload)
        JobRun.objects.create(run=run, job=job, attempt=job.attempt)
        Run.objects.filter(pk=run.pk).update(host=host)
    answer = talk.say("POST", "sampling", wire.SamplingMessage(systems={"odd": ["db1"], "fine": ["db1"]}))
    assert answer.status_code == 200
    assert [run.system for run in wire.from_json(wire.SamplingAnswer, answer.content).runs] == ["fine"]


@pytest.mark.parametrize("nodes", [["x" * 81], [""]])
def test_nodes_of_a_sampler_that_cannot_be_are_refused(talk: Talk, nodes: list[str]) -> None:
    the_agent()
    refused = talk.say("POST", "sampling", {"systems": {"mine": nodes}})
    assert refused.status_code == 422
    assert refused.json()["errors"][0]["field"].startswith("systems")


def test_numbers_of_a_stream_have_31_bits(talk: Talk) -> None:
    agent, run = the_agent(), an_open_run()
    stream = streams.join(run=run, agent=agent.name, nodes=["db1"])
    assert stream is not None
    path = f"runs/{run.uid}/streams/{stream.number}"
    for batches in (-1, 2**31, 2**70):
        refused = talk.say("POST", f"{path}/end", {"batches": batches})
        assert (refused.status_code, refused.json()["errors"][0]["field"]) == (422, "batches")
    refused = talk.put_bytes(f"{path}/batches/{2**31}", a_batch(str(run.uid)))
    assert (refused.status_code, refused.json()["errors"][0]["field"]) == (422, "sequence")
    assert not StreamBatch.objects.exists()
