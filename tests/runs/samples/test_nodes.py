"""Roles of servers second by second, from their own states and from who executed writes."""

import numpy as np

from apps.runs.samples import nodes as roles
from apps.runs.samples.columns import SampledNode
from apps.runs.storage.codec import Column

END = 40
RECEIVES = "mysql.replication.io_running"


def column(values: list[float | None]) -> Column:
    observed = np.array([value is not None for value in values])
    return Column(np.array([value or 0 for value in values], np.float64), observed)


def a_server(name: str, *, writes: list[float], up: list[bool] | None = None, **states: list[float]) -> SampledNode:
    """`writes`: /s in each second; `up`: whether it answered; `states`: by the name of the series' last word."""
    up = up or [True] * END
    counted = np.concatenate([[0], np.cumsum(writes)[:-1]])
    keys = {"read_only": roles.READ_ONLY, "receives": RECEIVES, "state": roles.STATE, "primary": roles.PRIMARY}
    values: dict[str, list[float | None]] = {roles.ALIVE: list(counted), roles.WRITES[0]: list(counted)}
    values |= {keys[key]: list(found) for key, found in states.items()}
    changing = {
        key: column([value if alive else None for value, alive in zip(found, up, strict=True)])
        for key, found in values.items()
    }
    return SampledNode(name, "writer", np.arange(END, dtype=np.float64), changing)


def told(*nodes: SampledNode) -> dict[str, list[tuple[str, float]]]:
    """Of each node its roles and when they began."""
    found: dict[str, list[tuple[str, float]]] = {}
    for span in roles.role_spans(nodes):
        found.setdefault(span.node, []).append((span.role, span.start))
    return found


def before(second: int, one: float, other: float) -> list[float]:
    return [one if place < second else other for place in range(END)]


def test_a_galera_writer_that_was_killed_is_followed_by_the_node_that_took_its_writes() -> None:
    alive = [place < 10 or place >= 30 for place in range(END)]
    joining = [4.0 if place < 10 or place >= 35 else 1.0 for place in range(END)]
    killed = a_server("g1", writes=before(10, 100, 0), up=alive, state=joining, primary=[1.0] * END)
    taken = a_server("g2", writes=before(17, 0, 100), state=[4.0] * END, primary=before(10, 1, 1))
    found = told(killed, taken)
    assert found["g1"] == [("writer", 0.0), ("not observed", 10.0), ("joining", 30.0), ("reader", 35.0)]
    assert found["g2"][0] == ("reader", 0.0)
    assert found["g2"][1][0] == "writer"
    assert abs(found["g2"][1][1] - 17) <= 1


def test_a_replica_that_was_promoted_is_a_replica_no_longer() -> None:
    source = a_server("r1", writes=before(20, 50, 0), up=[place < 20 for place in range(END)], read_only=[0.0] * END)
    promoted = a_server("r2", writes=before(27, 0, 50), read_only=before(26, 1, 0), receives=[1.0] * END)
    found = told(source, promoted)
    assert [role for role, _ in found["r1"]] == ["writer", "not observed"]
    assert [role for role, _ in found["r2"]] == ["replica", "writer"]


def test_a_replica_whose_only_channel_has_a_name_is_a_replica() -> None:
    source = a_server("r1", writes=[50.0] * END, read_only=[0.0] * END)
    for key, role in {
        RECEIVES: "replica",
        "mysql.replication.east-1.io_running": "replica",
        "mysql.replication.group_replication_applier.io_running": "reader",
    }.items():
        other = a_server("r2", writes=[0.0] * END, read_only=[1.0] * END)
        changing = SampledNode(other.name, "reader", other.clock, {**other.changing, key: column([1.0] * END)})
        constant = SampledNode(other.name, "reader", other.clock, other.changing, {key: 1})
        for named in (changing, constant):
            assert told(source, named)["r2"] == [(role, 0.0)], key


def test_a_lull_of_one_second_changes_no_role() -> None:
    lull = [100.0 if place != 20 else 0.0 for place in range(END)]
    found = told(a_server("g1", writes=lull), a_server("g2", writes=[0.0] * END))
    assert found == {"g1": [("writer", 0.0)], "g2": [("reader", 0.0)]}


def test_both_write_where_both_execute_a_share() -> None:
    (one, other) = roles.role_spans([a_server("g1", writes=[60.0] * END), a_server("g2", writes=[40.0] * END)])
    assert (one.role, other.role) == ("writer", "writer")
    assert (round(one.share, 2), round(other.share, 2)) == (0.6, 0.4)
    assert one.event().label == "g1 is the writer, 60 % of the writes"


def test_what_a_node_applies_for_others_does_not_make_it_a_writer() -> None:
    applied = a_server("g2", writes=[100.0] * END)
    quiet = {**applied.changing, roles.ALIVE: column([2.0 * second for second in range(END)])}
    quiet[roles.SAMPLING] = column([2.0 * second for second in range(END)])
    found = told(a_server("g1", writes=[100.0] * END), SampledNode("g2", "reader", applied.clock, quiet))
    assert found == {"g1": [("writer", 0.0)], "g2": [("reader", 0.0)]}


def test_a_galera_node_that_is_polled_often_is_no_writer_for_it() -> None:
    applied = a_server("g2", writes=[20.0] * END)
    polled = {**applied.changing, roles.ALIVE: column([60.0 * second for second in range(END)])}
    polled[roles.SENT] = column([0.0] * END)
    sent = a_server("g1", writes=[20.0] * END)
    sending = {**sent.changing, roles.SENT: sent.changing[roles.WRITES[0]]}
    found = told(SampledNode("g1", "w", sent.clock, sending), SampledNode("g2", "r", applied.clock, polled))
    assert found == {"g1": [("writer", 0.0)], "g2": [("reader", 0.0)]}


def test_before_and_after_the_load_roles_are_those_of_the_load() -> None:
    load = [0.0] * 5 + [100.0] * (END - 10) + [0.0] * 5
    found = told(a_server("g1", writes=load), a_server("g2", writes=[0.0] * END))
    assert found == {"g1": [("writer", 0.0)], "g2": [("reader", 0.0)]}


def test_a_sample_from_far_away_does_not_take_memory_for_each_second_until_then() -> None:
    near, far = a_server("g1", writes=[10.0] * END), a_server("g2", writes=[10.0] * END)
    clock = far.clock.copy()
    clock[-1] = 1e12
    assert roles.role_spans([near, SampledNode("g2", "reader", clock, far.changing)]) == []


def test_one_server_alone_has_no_roles_to_tell() -> None:
    assert roles.role_spans([a_server("db1", writes=[10.0] * END)]) == []


def in_group(server: SampledNode, *, primary: list[float], state: list[float] | None = None) -> SampledNode:
    """A member of a MySQL group, whose writes are those that it proposed."""
    answered = server.changing[roles.ALIVE].observed
    known = {roles.ELECTED: primary, roles.MEMBER: state or [4.0] * END}
    own = {key: Column(np.array(values), answered) for key, values in known.items()}
    own[roles.PROPOSED] = server.changing[roles.WRITES[0]]
    return SampledNode(server.name, server.role, server.clock, {**server.changing, **own})


def test_the_primary_of_a_group_is_the_writer_also_while_nobody_writes() -> None:
    alive = [place < 10 or place >= 25 for place in range(END)]
    back = [3.0 if 25 <= place < 30 else 4.0 for place in range(END)]
    killed = in_group(a_server("m1", writes=[0.0] * END, up=alive), primary=before(10, 1, 0), state=back)
    elected = in_group(a_server("m2", writes=[0.0] * END), primary=before(16, 0, 1))
    found = told(killed, elected)
    assert found["m1"] == [("writer", 0.0), ("not observed", 10.0), ("joining", 25.0), ("reader", 30.0)]
    assert found["m2"] == [("reader", 0.0), ("writer", 16.0)]


def test_where_all_members_are_primaries_those_that_propose_transactions_are_writers() -> None:
    writes = in_group(a_server("m1", writes=[50.0] * END), primary=[1.0] * END)
    idle = in_group(a_server("m2", writes=[0.0] * END), primary=[1.0] * END)
    assert told(writes, idle) == {"m1": [("writer", 0.0)], "m2": [("reader", 0.0)]}
