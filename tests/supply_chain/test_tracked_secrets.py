"""Keys, tokens and passwords in files that git tracks; put together here, as this file is tracked too."""

from pathlib import Path

import pytest

from config.supply_chain import tracked_secrets
from config.supply_chain.accepted import AcceptedSecret, secrets

SECRETS = [
    "AKIA" + "IOSFODNN7EXAMPLQ",
    "-----BEGIN RSA " + "PRIVATE KEY-----",
    "ghp_" + "a1B2" * 9,
    "xoxb-" + "123456789012-abcdefghijkl",
    "postgresql://bench:" + "correct-horse" + "@db.example/bench",
]


@pytest.mark.parametrize("secret", SECRETS)
def test_a_secret_is_found_by_its_line(tmp_path: Path, secret: str) -> None:
    (tmp_path / "notes.md").write_text(f"first\nkey = {secret}\n")
    found = list(tracked_secrets.secrets_of(tmp_path, ["notes.md"], secrets()))
    assert [(each.path, each.line) for each in found] == [("notes.md", 2)]


def test_placeholders_and_what_is_no_text_are_none(tmp_path: Path) -> None:
    (tmp_path / "settings.md").write_text("DATABASE_URL=postgresql://user:" + "password@host/name")
    (tmp_path / "picture.png").write_bytes(b"\x89PNG\xff" + SECRETS[0].encode())
    paths = ["settings.md", "picture.png", "removed.md"]
    assert list(tracked_secrets.secrets_of(tmp_path, paths, secrets())) == []


def test_what_is_accepted_holds_for_its_path_alone(tmp_path: Path) -> None:
    for name in ("one.py", "two.py"):
        (tmp_path / name).write_text(SECRETS[0])
    but = [AcceptedSecret("AWS Access Key", "one.*", "AKIA.*", "an example")]
    found = tracked_secrets.secrets_of(tmp_path, ["one.py", "two.py"], but)
    assert [each.path for each in found] == ["two.py"]
