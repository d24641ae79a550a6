from apps.core.text import counted


def test_a_noun_follows_its_number() -> None:
    assert [counted(count, "run") for count in (0, 1, 2, 1200)] == ["0 runs", "1 run", "2 runs", "1,200 runs"]
    assert counted(2, "history", plural="histories") == "2 histories"
