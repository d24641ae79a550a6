"""What a member of a MySQL group reports, as rows that real members answered with."""

from workers.agent.measure import group
from workers.agent.samplers.group import numbers

DB1, DB2, DB3 = "127.0.0.1:18299", "127.0.0.1:21891", "127.0.0.1:25485"
WHOLE = ((0, DB1, "ONLINE", "PRIMARY", 1), (1, DB2, "ONLINE", "SECONDARY", 1), (0, DB3, "ONLINE", "SECONDARY", 1))
SUSPECTED = ((0, DB1, "UNREACHABLE", "PRIMARY", 1), *WHOLE[1:])
OFFLINE = ((1, DB2, "OFFLINE", "", 1),)


def seen(rows: tuple[tuple[object, ...], ...]) -> group.GroupView:
    found = group.view(rows)
    assert found is not None
    return found


def test_a_group_of_which_all_are_online_has_no_problem() -> None:
    found = seen(WHOLE)
    assert found.problem(3) == ""
    assert found.words() == f"ONLINE SECONDARY, 3 of 3 members ONLINE, primary {DB1}"
    assert (found.serves, found.takes_writes) == (True, False)
    assert numbers(found) == {
        "mysql.group.primary": 0,
        "mysql.group.members": 3,
        "mysql.group.online": 3,
        "mysql.group.state": 4,
    }


def test_a_suspected_member_is_named_with_its_state() -> None:
    found = seen(SUSPECTED)
    assert found.words() == f"ONLINE SECONDARY, 2 of 3 members ONLINE, {DB1} UNREACHABLE, primary {DB1}"
    assert found.problem(3) == f"reports of its group: {DB1} is UNREACHABLE"


def test_an_expelled_member_is_missed_by_the_number_of_nodes() -> None:
    assert seen(WHOLE[1:]).problem(3) == "is in a group of 2, the system has 3 nodes"


def test_a_member_that_left_is_not_in_its_group() -> None:
    assert seen(OFFLINE).problem(3) == "is not in its group: its state is OFFLINE"
    assert numbers(seen(OFFLINE))["mysql.group.state"] == 0


def test_a_primary_that_sees_a_minority_takes_no_writes_though_it_reports_online() -> None:
    cut_off = ((1, DB1, "ONLINE", "PRIMARY", 0), *((0, each, "UNREACHABLE", "SECONDARY", 0) for each in (DB2, DB3)))
    assert (seen(cut_off).serves, seen(cut_off).takes_writes) == (False, False)
    one_left = (*cut_off[:2], (0, DB3, "ONLINE", "SECONDARY", 0))
    assert seen(one_left).takes_writes


def test_a_server_without_members_has_no_view() -> None:
    assert group.view(()) is None
