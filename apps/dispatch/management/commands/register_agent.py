"""Register an agent, rotate its secret, or revoke its access."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import transaction
from django.utils import timezone

from apps.core.problems import Invalid
from apps.dispatch.jobs import agents, bindings


class Command(BaseCommand):
    help = "Register an agent and print its secret, which cannot be read again. It may measure the systems named."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", help="letters, digits, '-' and '_'")
        parser.add_argument("--system", action="append", default=[], help="slug of a system that it may measure")
        parser.add_argument("--trusted", action="store_true", help="it may measure any system that it names")
        known = parser.add_mutually_exclusive_group()
        known.add_argument("--rotate", action="store_true", help="replace an agent's secret; the old one stops working")
        known.add_argument("--revoke", action="store_true", help="revoke an agent; --rotate reinstates it")

    def handle(self, *_args: Any, **options: Any) -> None:
        try:
            message = self._revoke(options["name"]) if options["revoke"] else self._secret(**options)
        except Invalid as refused:
            raise CommandError(str(refused)) from refused
        self.stdout.write(message)

    @staticmethod
    def _secret(*, name: str, rotate: bool, trusted: bool, system: list[str], **_: Any) -> str:
        if rotate:
            return agents.rotate_agent(name=name)[1]
        with transaction.atomic():
            secret = agents.register_agent(name=name, is_trusted=trusted)[1]
            for slug in system:
                bindings.decide(agent=name, slug=slug, is_allowed=True, by=None, now=timezone.now())
        return secret

    @staticmethod
    def _revoke(name: str) -> str:
        new = agents.revoke_agent(name=name, now=timezone.now())
        return f"Revoked the agent {name}." if new else f"The agent {name} was already revoked."
