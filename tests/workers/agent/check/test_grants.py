"""SHOW GRANTS, as the servers print it."""

import pytest

from workers.agent.check import NEEDED
from workers.agent.grants import ALL, lacking, privileges_on

USAGE = "GRANT USAGE ON *.* TO `bench`@`%` IDENTIFIED BY PASSWORD '*AB'"
WHO = "TO `bench`@`%`"


def missing(*lines: str, schema: str = "sb_test") -> list[str]:
    return lacking(NEEDED, privileges_on(schema, [USAGE, *lines]))


@pytest.mark.parametrize(
    "line",
    [
        f"GRANT ALL PRIVILEGES ON *.* {WHO} WITH GRANT OPTION",
        f"GRANT ALL PRIVILEGES ON `sb_test`.* {WHO}",
        rf"GRANT ALL PRIVILEGES ON `sb\_test`.* {WHO}",
        f"GRANT ALL PRIVILEGES ON `sb%`.* {WHO}",
        f"GRANT ALL PRIVILEGES ON `s__test`.* {WHO}",
        f'GRANT ALL PRIVILEGES ON "sb_test".* {WHO}',
        f"GRANT SELECT, INSERT, UPDATE, DELETE, CREATE, DROP, INDEX, ALTER ON `sb_test`.* {WHO}",
    ],
)
def test_what_covers_the_schema_suffices(line: str) -> None:
    assert missing(line) == []


@pytest.mark.parametrize(
    "line",
    [
        f"GRANT ALL PRIVILEGES ON `other`.* {WHO}",
        rf"GRANT ALL PRIVILEGES ON `sb\_test\_2`.* {WHO}",
        rf"GRANT ALL PRIVILEGES ON `sb\%`.* {WHO}",
        f"GRANT ALL PRIVILEGES ON `sb_`.* {WHO}",
        f"GRANT ALL PRIVILEGES ON `sb_test`.`t` {WHO}",
        f"GRANT PROXY ON ''@'%' {WHO} WITH GRANT OPTION",
        f"GRANT `everything`@`%` {WHO}",
        f"GRANT CREATE USER, SELECT (id) ON *.* {WHO}",
    ],
)
def test_what_is_granted_elsewhere_does_not(line: str) -> None:
    assert missing(line) == sorted(NEEDED)


def test_an_escaped_underscore_is_no_wildcard() -> None:
    assert ALL not in privileges_on("sbxtest", [rf"GRANT ALL PRIVILEGES ON `sb\_test`.* {WHO}"])
    assert ALL in privileges_on("sbxtest", [f"GRANT ALL PRIVILEGES ON `sb_test`.* {WHO}"])


def test_of_several_rows_the_most_specific_one_counts_beside_the_global_one() -> None:
    assert privileges_on(
        "sb_test",
        [
            f"GRANT PROCESS ON *.* {WHO}",
            f"GRANT ALL PRIVILEGES ON `sb%`.* {WHO}",
            f"GRANT SELECT ON `sb\\_test`.* {WHO}",
        ],
    ) == {"PROCESS", "SELECT"}
    # A role has rows of its own.
    assert missing(f"GRANT SELECT ON `sb\\_test`.* {WHO}", "GRANT ALL PRIVILEGES ON `sb%`.* TO `benchers`") == []


def test_a_privilege_revoked_on_the_schema_is_missing() -> None:
    own = [f"GRANT {', '.join(sorted(NEEDED))} ON *.* {WHO}", "REVOKE INSERT ON `sb_test`.* FROM `bench`@`%`"]
    assert missing(*own) == ["INSERT"]
    assert missing(*own, schema="other") == []
