"""Settings of a server: what is refused, and what a TLS proxy changes. Each in a process that reads them anew."""

import json
import os
import subprocess
import sys
from typing import Any

import pytest

from config.launch.places import ROOT

READ = ("SPLASHBOARD_", "DJANGO_")
SHOWN = [
    "SESSION_COOKIE_SECURE",
    "CSRF_COOKIE_SECURE",
    "SECURE_PROXY_SSL_HEADER",
    "SECURE_HSTS_SECONDS",
    "SPLASHBOARD_PUBLIC_READ",
]
KEY = {"SPLASHBOARD_SECRET_KEY": "0123456789abcdef" * 4}
BEHIND_TLS = {
    **KEY,
    "SPLASHBOARD_HOSTS": "splashboard.example",
    "SPLASHBOARD_ORIGINS": "https://splashboard.example",
    "SPLASHBOARD_BEHIND_TLS_PROXY": "true",
}
PRINT = f"""
import json
from django.conf import settings
print(json.dumps({{name: getattr(settings, name) for name in {SHOWN}}}))
"""


def python(code: str, variables: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """`variables` and none of the product's others."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(READ)}
    env = inherited | {"DJANGO_SETTINGS_MODULE": "config.settings"} | variables
    return subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=env, capture_output=True, text=True, check=False)


def settings_with(**variables: str) -> dict[str, Any]:
    said = python(PRINT, variables)
    assert said.returncode == 0, said.stderr
    read: dict[str, Any] = json.loads(said.stdout)
    return read


def test_a_server_with_a_name_answers_the_agent_beside_it_too() -> None:
    said = python("from django.conf import settings; print(*settings.ALLOWED_HOSTS)", BEHIND_TLS)
    assert said.stdout.split() == ["splashboard.example", "localhost", "127.0.0.1", "[::1]"], said.stderr


@pytest.mark.parametrize("hosts", ["splashboard.example", "localhost,bench.example,127.0.0.1", "*", ".example"])
def test_default_key_is_refused_on_a_server_that_has_a_name(hosts: str) -> None:
    said = python(PRINT, {"SPLASHBOARD_HOSTS": hosts})
    assert said.returncode != 0
    sentence = said.stderr.strip().splitlines()[-1]
    assert sentence.startswith("django.core.exceptions.ImproperlyConfigured: SPLASHBOARD_HOSTS names ")
    assert "SPLASHBOARD_SECRET_KEY is not set: set it to 50 random characters" in sentence


@pytest.mark.parametrize(
    "variables",
    [
        {},
        {"SPLASHBOARD_HOSTS": "localhost,127.0.0.1,[::1]"},
        {"SPLASHBOARD_HOSTS": "splashboard.example", "SPLASHBOARD_SECRET_KEY": "k" * 50},
    ],
)
def test_default_key_does_on_this_machine_and_another_key_everywhere(variables: dict[str, str]) -> None:
    assert settings_with(**variables)["SESSION_COOKIE_SECURE"] is False


@pytest.mark.parametrize(
    ("origins", "secure"),
    [
        ("https://splashboard.example", True),
        ("https://splashboard.example,https://bench.example:8443", True),
        ("https://splashboard.example,http://localhost:8000", False),
        ("http://localhost:8000", False),
        ("", False),
    ],
)
def test_cookies_are_secure_where_every_origin_is_https(origins: str, secure: bool) -> None:
    read = settings_with(SPLASHBOARD_ORIGINS=origins)
    assert (read["SESSION_COOKIE_SECURE"], read["CSRF_COOKIE_SECURE"]) == (secure, secure)


def test_the_proxys_word_counts_only_where_it_was_asked_for() -> None:
    assert settings_with(SPLASHBOARD_ORIGINS="https://a.example")["SECURE_PROXY_SSL_HEADER"] is None
    read = settings_with(SPLASHBOARD_BEHIND_TLS_PROXY="true")
    assert read["SECURE_PROXY_SSL_HEADER"] == ["HTTP_X_FORWARDED_PROTO", "https"]


@pytest.mark.parametrize(
    ("variables", "public"),
    [
        ({}, True),
        ({"SPLASHBOARD_HOST": "::1"}, True),
        ({"SPLASHBOARD_HOST": "0.0.0.0"}, False),
        ({"SPLASHBOARD_HOSTS": "bench.example", **KEY}, False),
        ({"SPLASHBOARD_HOSTS": "localhost,127.0.0.1,web", **KEY}, False),
        ({"SPLASHBOARD_HOSTS": "bench.example", "SPLASHBOARD_PUBLIC_READ": "true", **KEY}, True),
        ({"SPLASHBOARD_PUBLIC_READ": "false"}, False),
        # A proxy before the server may send `Host: 127.0.0.1:8000`.
        ({"SPLASHBOARD_ORIGINS": "https://bench.example"}, False),
        ({"SPLASHBOARD_ORIGINS": "http://localhost:8000,https://*.example"}, False),
        ({"SPLASHBOARD_ORIGINS": "http://localhost:8000,http://[::1]:8000"}, True),
        ({"SPLASHBOARD_BEHIND_TLS_PROXY": "true"}, False),
        ({"SPLASHBOARD_ADDRESS": "https://bench.example"}, False),
        ({"SPLASHBOARD_ORIGINS": "https://bench.example", "SPLASHBOARD_PUBLIC_READ": "true"}, True),
    ],
)
def test_reading_is_public_on_this_machine_alone_or_by_choice(variables: dict[str, str], public: bool) -> None:
    assert settings_with(**variables)["SPLASHBOARD_PUBLIC_READ"] is public


def test_a_public_server_that_others_reach_says_so_at_its_start() -> None:
    begin = "import config.asgi"
    words = "whoever reaches this server reads everything, without signing in"
    for reached in (BEHIND_TLS, {"SPLASHBOARD_ORIGINS": "https://bench.example"}):
        assert words in python(begin, {**reached, "SPLASHBOARD_PUBLIC_READ": "true"}).stderr
    for quiet in ({}, BEHIND_TLS):
        said = python(begin, quiet)
        assert (said.returncode, words in said.stderr) == (0, False), said.stderr


def test_browsers_are_told_to_stay_with_https_where_it_is_all_there_is() -> None:
    assert settings_with(**BEHIND_TLS)["SECURE_HSTS_SECONDS"] == 365 * 24 * 3600
    assert settings_with()["SECURE_HSTS_SECONDS"] == 0
    also_http = BEHIND_TLS | {"SPLASHBOARD_ORIGINS": "https://splashboard.example,http://localhost:8000"}
    assert settings_with(**also_http)["SECURE_HSTS_SECONDS"] == 0


def test_djangos_own_checks_for_a_server_find_nothing() -> None:
    check = "import sys; from django.core.management import execute_from_command_line as run; run(sys.argv[1:])"
    code = f"import sys; sys.argv += ['manage.py', 'check', '--deploy', '--fail-level', 'INFO']; {check}"
    said = python(code, BEHIND_TLS)
    assert said.returncode == 0, said.stderr


@pytest.mark.parametrize(
    ("variables", "sentence"),
    [
        ({"SPLASHBOARD_OIDC_ISSUER": "https://id.example"}, "SPLASHBOARD_OIDC_CLIENT_ID is not set"),
        ({"SPLASHBOARD_OIDC_ISSUER": "http://id.example", "SPLASHBOARD_OIDC_CLIENT_ID": "a"}, "begins with https://"),
        ({"SPLASHBOARD_OIDC_NEW_PEOPLE": "administrator"}, "choose reader, engineer or nothing"),
        ({"SPLASHBOARD_PASSWORDS": "false"}, "or nobody can sign in"),
    ],
)
def test_a_provider_that_lets_nobody_or_everybody_in_is_refused(variables: dict[str, str], sentence: str) -> None:
    said = python(PRINT, variables)
    assert said.returncode != 0
    assert sentence in said.stderr.strip().splitlines()[-1]


NUMBERS = [
    "SPLASHBOARD_LEAST_FREE_MB",
    "SPLASHBOARD_UPLOADS_GB_A_DAY",
    "SPLASHBOARD_KEEP_SAMPLES_DAYS",
    "SPLASHBOARD_PORT",
]
FLAGS = [
    *("SPLASHBOARD_EXAMPLES", "SPLASHBOARD_PUBLIC_READ", "SPLASHBOARD_PASSWORDS", "SPLASHBOARD_DEBUG"),
    *("SPLASHBOARD_BEHIND_TLS_PROXY", "SPLASHBOARD_OIDC_TRUSTS_EMAIL"),
]


@pytest.mark.parametrize(
    ("name", "text", "allowed"),
    [
        *((name, "abc", "a whole number") for name in NUMBERS),
        ("SPLASHBOARD_LEAST_FREE_MB", "-1", "a whole number of MB, 0 or more"),
        ("SPLASHBOARD_UPLOADS_GB_A_DAY", "1.5", "a whole number of GiB"),
        *((name, "maybe", "true or false") for name in FLAGS),
        ("SPLASHBOARD_LOG_LEVEL", "loud", "DEBUG, INFO"),
    ],
)
def test_what_a_variable_cannot_be_is_refused_by_its_name(name: str, text: str, allowed: str) -> None:
    said = python("import config.settings", {name: text})
    assert said.returncode != 0
    sentence = said.stderr.strip().splitlines()[-1]
    assert f"{name} is {text!r}" in sentence or f"{name} is {text.upper()!r}" in sentence
    assert allowed in sentence


@pytest.mark.parametrize(
    ("text", "public"), [("no", False), ("0", False), ("OFF", False), (" true ", True), ("1", True), ("", True)]
)
def test_yes_and_no_have_their_usual_words(text: str, public: bool) -> None:
    assert settings_with(SPLASHBOARD_PUBLIC_READ=text)["SPLASHBOARD_PUBLIC_READ"] is public
