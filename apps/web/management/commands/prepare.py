"""Prepares an empty database for a usable server, in one process: starting Django costs a second."""

import io
import json
import os
import time
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.files.storage import default_storage
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError, CommandParser, OutputWrapper
from django.db import OperationalError, connection
from django.db.migrations.executor import MigrationExecutor
from django.utils import timezone

from apps.accounts import services as accounts
from apps.accounts import tokens
from apps.accounts.credentials import digest_of
from apps.accounts.models import User
from apps.core.problems import Invalid
from apps.core.server import measures, schema
from apps.core.stores import BucketProblem, ensure_bucket
from apps.dispatch.models import Agent

LOADERS = ("seed_catalog", "load_published")
# Each takes 150 MB and a connection.
PROCESSES = min(8, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1)
EXAMPLES = ("examples", "load", "--at-start", "--processes", str(PROCESSES))
AGENT = "local"
# Equal to reverse("web:sign-in-link"), without loading every page and endpoint first; a test compares them.
SIGN_IN_PATH = "/sign-in/{secret}/"
CONFIGURATION = """\
# Written at every start. Systems for this agent to measure go into files of their own: agent.d/*.toml beside this one.
[server]
url = "{server}"
token_file = "{token_file}"

[agent]
name = "{name}"
"""


class Command(BaseCommand):
    help = (
        "Migrate, load the catalog and the published results, collect static files, create an agent and a sign-in link."
    )
    # Checks load all addresses and cost as much as the rest of a second start; the tests run them.
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--agent-config", type=Path, help="configuration file to write for a local agent")
        parser.add_argument("--server", default="http://127.0.0.1:8000", help="this server's address for the agent")
        parser.add_argument("--result", type=Path, help="JSON file for the sign-in link's path, and who may read")
        parser.add_argument("--token", type=Path, help="file for an administrator's REST API token")
        parser.add_argument("--unchanged", action="store_true", help="reload data only if a migration was applied")
        parser.add_argument("--without-static", action="store_true", help="do not collect static files")
        parser.add_argument("--without-example", action="store_true", help="do not load the example runs")
        parser.add_argument(
            "--create-bucket", action="store_true", help="create the artifacts' bucket if it is missing"
        )

    def handle(self, *_args: Any, **options: Any) -> None:
        measures.remove_ended(now=time.time())
        migrated = self._migrate()
        if options["create_bucket"]:
            self._create_bucket()
        if migrated or not options["unchanged"]:
            self._load()
        is_stale = migrated or not options["unchanged"] or not Path(settings.STATIC_ROOT).is_dir()
        if is_stale and not options["without_static"]:
            self._progress("collecting static files")
            call_command("collectstatic", interactive=False, verbosity=0, stdout=self.stdout)
        if options["agent_config"]:
            self._agent(options["agent_config"], options["server"])
        if options["token"]:
            self._token(options["token"])
        if options["result"]:
            self._sign_in_link(options["result"])
        # Last: hundreds of runs take longer than all the rest, and pages say how far they are.
        if settings.SPLASHBOARD_EXAMPLES and not options["without_example"]:
            call_command(*EXAMPLES, stdout=self.stdout)

    def _progress(self, text: str) -> None:
        self.stdout.write(f"progress: {text}")
        self.stdout.flush()

    def _migrate(self) -> bool:
        """Whether migrations were applied."""
        try:
            executor = MigrationExecutor(connection)
        except OperationalError as error:
            raise CommandError(f"the database of DATABASE_URL does not answer: {str(error).strip()}") from error
        applied = executor.recorder.applied_migrations().keys()
        for (app, name), migration in executor.loader.disk_migrations.items():
            parts = applied & set(migration.replaces)
            # Django would take the part that is applied for the whole.
            if (app, name) not in applied and 0 < len(parts) < len(migration.replaces):
                last = sorted(migration.replaces)[-1][1]
                raise CommandError(
                    f"the database is of a release without the migration {app}.{last}, which this one has only as part "
                    "of another: start a release that has it first, then this one"
                )
        plan = executor.migration_plan(executor.loader.graph.leaf_nodes())
        if not plan:
            executor.check_replacements()  # squashed migrations whose parts are applied, which `migrate` would record
            return False
        out = _Counting(self.stdout, len(plan))
        try:
            schema.migrate(
                lambda: call_command("migrate", interactive=False, stdout=out, no_color=True), report=self._progress
            )
        except schema.TableInUse as problem:
            raise CommandError(
                f"a table stayed in use ({problem}): end what uses the database (other servers, a backup, a query that "
                "does not end), then start again; what was migrated stays"
            ) from problem
        return True

    def _load(self) -> None:
        for number, name in enumerate(LOADERS, start=1):
            self._progress(f"{name} ({number} of {len(LOADERS)})")
            call_command(name, stdout=self.stdout)

    def _create_bucket(self) -> None:
        try:
            created = ensure_bucket(default_storage, create=True)
        except BucketProblem as problem:
            raise CommandError(str(problem)) from problem
        if created:
            self.stdout.write(f"Created the bucket {created}.")

    def _agent(self, config: Path, server: str) -> None:
        token_file = config.with_name("agent.token")
        token = token_file.read_text().strip() if token_file.exists() else ""
        agent = Agent.objects.filter(name=AGENT).first()
        if agent is None:
            from apps.dispatch.api import register_agent  # noqa: PLC0415 - 0.4 s that only a first start needs

            agent, token = register_agent(name=AGENT, is_trusted=True)
            _write(token_file, token)
        elif agent.digest != digest_of(token) and agent.revoked_at is None:  # a user's revocation is kept
            from apps.dispatch.api import rotate_agent  # noqa: PLC0415 - as above

            agent, token = rotate_agent(name=AGENT)
            _write(token_file, token)
        _write(config, CONFIGURATION.format(server=server, token_file=token_file.name, name=AGENT))

    def _token(self, file: Path) -> None:
        """The token in `file` is kept while it works."""
        now = timezone.now()
        try:
            if file.exists() and tokens.of_secret(file.read_text().strip(), now):
                return
        except tokens.TokenExpired:
            pass  # a user's own, in place of ours
        name = f"made at start, {now:%Y-%m-%d %H:%M:%S.%f}"
        _, secret = tokens.create(user=_administrator(), name=name, scope=tokens.Scope.REVIEW, days=None, now=now)
        _write(file, secret)

    def _sign_in_link(self, result: Path) -> None:
        secret = accounts.create_sign_in_link(user=_administrator(), now=timezone.now())
        is_public = settings.SPLASHBOARD_PUBLIC_READ and settings.REACHABLE
        _write(result, json.dumps({"link": SIGN_IN_PATH.format(secret=secret), "is_public": is_public}))


def _administrator() -> User:
    try:
        return accounts.first_administrator()
    except Invalid as refused:
        raise CommandError(str(refused)) from refused


class _Counting(io.TextIOBase):
    """Forwards the output of `migrate` and counts applied migrations."""

    def __init__(self, out: OutputWrapper, total: int) -> None:
        self._out = out
        self._total = total
        self._count = 0

    def write(self, text: str) -> int:
        self._out.write(text, ending="")
        if "Applying " in text:
            self._count += 1
            self._out.write(f"\nprogress: migration {self._count} of {self._total}")
            self._out.flush()
        return len(text)


def _write(path: Path, text: str) -> None:
    """Replace a file atomically; only this user can read it."""
    partial = path.with_name(path.name + ".partial")
    partial.unlink(missing_ok=True)
    with os.fdopen(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(text)
    partial.replace(path)
