"""What a statement does, by its words."""

import pytest

from apps.comparison.schema_changes.statements import Manner, operation_of, option_of, stated_operation


@pytest.mark.parametrize(
    ("statement", "operation"),
    [
        ("ALTER TABLE sbtest1 ADD COLUMN splash_1 INT NULL, ALGORITHM=COPY", "add column"),
        ("alter table `a`.`b` add column c int not null default 0, force, algorithm=inplace", "add column not null"),
        ("ALTER ONLINE TABLE t DROP COLUMN c", "drop column"),
        ("ALTER TABLE t ADD UNIQUE INDEX i (c), LOCK=NONE", "add index"),
        ("CREATE INDEX i ON t (c)", "add index"),
        ("ALTER TABLE t ENGINE=InnoDB", "engine=innodb"),
        ("ALTER TABLE t MODIFY COLUMN c BIGINT UNSIGNED", "modify column c"),
        ("", "schema change"),
    ],
)
def test_a_statement_is_sorted_by_what_it_does(statement: str, operation: str) -> None:
    assert operation_of(statement) == operation


def test_an_algorithm_that_is_not_asked_for_is_the_servers_choice() -> None:
    assert option_of("ALTER TABLE t ADD COLUMN c INT", "ALGORITHM") == "default"
    assert option_of("ALTER TABLE t ADD COLUMN c INT, algorithm = instant", "ALGORITHM") == "instant"
    assert Manner("default", "default", 0, 1).text == "as the server chooses"


def test_what_holds_the_table_is_part_of_the_manner() -> None:
    assert Manner("instant", "none", 5, 10).text == (
        "INSTANT, LOCK=NONE, behind a transaction of 5 s, 10 statements a run"
    )


def test_a_column_that_articles_call_null_is_one_without_more() -> None:
    assert stated_operation("add column null") == "add column"
