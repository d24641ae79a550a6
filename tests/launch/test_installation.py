"""The files of an installation say what the code reads."""

import json
import re
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from config.launch import environment
from config.launch.places import ROOT, VENV
from tests.launch.test_settings import settings_with

VARIABLE = r"(?:SPLASHBOARD|DATABASE|REDIS|S3|EMAIL)_[A-Z0-9_]+"
# Read by libraries, not by us.
OF_LIBRARIES = {"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_DEFAULT_REGION", "PROMETHEUS_MULTIPROC_DIR"}
OF_COMPOSE = {"POSTGRES_PASSWORD", "S3_SECRET"}


def variables_read() -> set[str]:
    """Names that the product's code takes from the environment."""
    found: set[str] = set()
    for folder in ("config", "apps", "workers"):
        for file in (ROOT / folder).rglob("*.py"):
            found |= set(
                re.findall(
                    rf"(?:\bstr|\bbool|\blist|\bint|db_url|get|_?number|_?flag)\(\s*(?:environ, )?\"({VARIABLE})\"",
                    file.read_text(),
                )
            )
            found |= set(re.findall(rf"_VARIABLE = \"({VARIABLE})\"", file.read_text()))
    return found


def documented() -> set[str]:
    text = (ROOT / "docs/reference/settings.md").read_text()
    section = text.split("## Environment variables")[1].split("\n## ")[0]
    return set(re.findall(rf"^\| `({VARIABLE})` \|", section, flags=re.MULTILINE))


def compose() -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
    return loaded


def test_every_variable_is_documented_and_every_documented_one_is_read() -> None:
    read = variables_read()
    assert {
        "DATABASE_URL",
        "REDIS_URL",
        "SPLASHBOARD_PORT",
        "SPLASHBOARD_SECRET_KEY",
        "SPLASHBOARD_AGENT_TOKEN",
    } <= read
    assert documented() == read


def test_compose_file_is_valid() -> None:
    argv: list[str | Path] = [
        VENV / "bin/check-jsonschema",
        "--builtin-schema",
        "vendor.compose-spec",
        "docker-compose.yml",
    ]
    said = subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, check=False)
    assert said.returncode == 0, said.stdout


def test_compose_describes_every_part() -> None:
    services = compose()["services"]
    assert set(services) == {"prepare", "web", "worker", "beat", "agent", "postgres", "redis", "object-store"}
    without = {name for name, service in services.items() if "healthcheck" not in service}
    assert without == {"prepare"}  # which ends


def test_compose_sets_only_what_the_product_reads() -> None:
    file = compose()
    ours = {
        name for service in ("prepare", "web", "worker", "beat") for name in file["services"][service]["environment"]
    }
    assert ours <= variables_read() | OF_LIBRARIES
    asked = set(re.findall(r"\$\{([A-Z0-9_]+)", (ROOT / "docker-compose.yml").read_text()))
    assert asked <= documented() | OF_COMPOSE
    operations = (ROOT / "docs/reference/settings.md").read_text()
    assert {name for name in asked if f"`{name}`" not in operations} == set()


def test_compose_server_begins_without_example_runs_and_takes_forms_at_its_own_port() -> None:
    services = compose()["services"]
    assert "--without-example" in services["prepare"]["command"]
    port = re.findall(r"^(\$\{.*\}):8000$", services["web"]["ports"][0])
    assert (
        services["web"]["environment"]["SPLASHBOARD_ORIGINS"] == f"${{SPLASHBOARD_ORIGINS:-http://localhost:{port[0]}}}"
    )


def by_default(value: str) -> str:
    """A value of the compose file where .env has only what it must; the innermost names first."""
    while (found := re.sub(r"\$\{\w+:-([^${}]*)\}", r"\1", value)) != value:
        value = found
    return re.sub(r"\$\{\w+:\?[^}]*\}", "k" * 50, value)


def test_compose_server_is_private_by_default() -> None:
    given = {name: by_default(value) for name, value in compose()["services"]["web"]["environment"].items()}
    assert given["SPLASHBOARD_HOSTS"] == "localhost,127.0.0.1,web"
    assert settings_with(**given)["SPLASHBOARD_PUBLIC_READ"] is False
    del given["SPLASHBOARD_PUBLIC_READ"]
    assert settings_with(**given)["SPLASHBOARD_PUBLIC_READ"] is False


def test_compose_refers_to_what_exists() -> None:
    file = compose()
    services, volumes = file["services"], set(file["volumes"])
    mounted = {volume.split(":")[0] for service in services.values() for volume in service.get("volumes", [])}
    assert mounted == volumes
    for service in services.values():
        assert set(service.get("depends_on", {})) <= set(services)
        for needed, how in service.get("depends_on", {}).items():
            assert how["condition"] == "service_completed_successfully" or "healthcheck" in services[needed]
    targets = set(re.findall(r"^FROM .* AS (\w+)$", (ROOT / "Dockerfile").read_text(), flags=re.MULTILINE))
    assert {service["build"]["target"] for service in services.values() if "build" in service} <= targets


def test_each_image_that_is_not_built_here_is_pinned_by_its_digest() -> None:
    dockerfile = (ROOT / "Dockerfile").read_text()
    built = set(re.findall(r"^FROM .* AS (\w+)$", dockerfile, flags=re.MULTILINE))
    used = set(re.findall(r"^FROM (\S+)", dockerfile, flags=re.MULTILINE)) - built
    used |= {service["image"] for service in compose()["services"].values() if "build" not in service}
    assert len(used) == 5
    assert [image for image in used if not re.fullmatch(r"[\w./-]+:[\w.-]+@sha256:[0-9a-f]{64}", image)] == []


@pytest.mark.parametrize("service", ["prepare", "worker", "beat"])
def test_compose_commands_are_understood(service: str) -> None:
    """Each command line is given to its program, which only prints its help."""
    command = compose()["services"][service]["command"]
    argv: list[str | Path] = [VENV / "bin" / command[0], *command[1:], "--help"]
    said = subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, check=False)
    assert said.returncode == 0, said.stderr
    options = [part.split("=")[0] for part in command if part.startswith("--") and part != "--app"]
    assert [option for option in options if option not in said.stdout] == []


def test_image_holds_what_its_build_copies() -> None:
    """Every file that the Dockerfile copies from the checkout exists and is let in by .dockerignore."""
    allowed = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    for line in (ROOT / "Dockerfile").read_text().splitlines():
        if line.startswith("COPY ") and "--from" not in line:
            for source in line.split()[1:-1]:
                assert (ROOT / source).exists(), source
                assert {str(path) for path in (Path(source), *Path(source).parents)} & allowed, source


def pinned(lock: Path) -> dict[str, str]:
    return dict(re.findall(r"^([a-z0-9-]+)(?:\[[^\]]*\])?==(\S+)", lock.read_text(), flags=re.MULTILINE))


def test_locks_hold_every_direct_dependency_with_hashes() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    everything, server = pinned(environment.LOCK), pinned(environment.SERVER_LOCK)
    assert server.items() <= everything.items()
    for lock, wanted in (
        (server, project["dependencies"]),
        (everything, [d for name in ("embedded", "dev") for d in project["optional-dependencies"][name]]),
    ):
        for dependency in wanted:
            name, version = re.sub(r"\[.*?\]", "", dependency).lower().split("==")
            assert lock[name] == version
    for file in (environment.LOCK, environment.SERVER_LOCK, environment.UV_LOCK):
        blocks = re.split(r"^(?=[a-z0-9])", file.read_text(), flags=re.MULTILINE)[1:]
        assert [block.splitlines()[0] for block in blocks if "--hash=sha256:" not in block] == []


def test_every_direct_dependency_has_its_reason() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    python = [*project["dependencies"], *(d for extra in project["optional-dependencies"].values() for d in extra)]
    wanted = {re.split(r"[\[=]", dependency)[0] for dependency in python}
    package = json.loads((ROOT / "frontend/package.json").read_text())
    wanted |= {*package.get("dependencies", {}), *package.get("devDependencies", {})}
    rows = re.findall(
        r"^\| ([@\w./-]+) \| (.{10,}) \|$", (ROOT / "docs/why/dependencies.md").read_text(), flags=re.MULTILINE
    )
    assert {name for name, _ in rows} - {"package"} == wanted


@pytest.mark.parametrize(
    "sentence", ["stale", "in use by another program", "disk is full", "no C compiler", "running already"]
)
def test_operations_know_the_sentences(sentence: str) -> None:
    said = "\n".join(file.read_text() for file in (ROOT / "config/launch").glob("*.py"))
    assert sentence in re.sub(r'"\s*f?"', "", said)
    assert sentence in (ROOT / "docs/howto/troubleshoot.md").read_text()
