"""A browser is named so that its person recognises it."""

import pytest

from apps.accounts.sessions.browsers import LONGEST, browser_name

WEBKIT = "AppleWebKit/537.36 (KHTML, like Gecko)"


@pytest.mark.parametrize(
    ("user_agent", "name"),
    [
        ("Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0", "Firefox on Linux"),
        (f"Mozilla/5.0 (Windows NT 10.0; Win64; x64) {WEBKIT} Chrome/126.0 Safari/537.36", "Chrome on Windows"),
        (f"Mozilla/5.0 (Windows NT 10.0) {WEBKIT} Chrome/126.0 Safari/537.36 Edg/126.0", "Edge on Windows"),
        ("Mozilla/5.0 (Macintosh; Intel Mac OS X 14_5) AppleWebKit/605 Version/17 Safari/605", "Safari on macOS"),
        (f"Mozilla/5.0 (Linux; Android 14; Pixel 8) {WEBKIT} Chrome/126 Mobile Safari/537", "Chrome on Android"),
        ("Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) CriOS/126 Mobile Safari/604", "Chrome on iPhone"),
        ("curl/7.88.1", "curl/7.88.1"),
        ("\x1b[2J" * 100, "[2J" * (LONGEST // 3)),
        ("", "unknown program"),
        ("  ", "unknown program"),
    ],
)
def test_browser_and_system(user_agent: str, name: str) -> None:
    assert browser_name(user_agent) == name
