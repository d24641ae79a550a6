"""Register an agent, rotate its secret, or revoke its access."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from apps.core.problems import Invalid
from apps.dispatch.jobs import agents


class Command(BaseCommand):
    help = "Register an agent and print its secret, which cannot be read again."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", help="letters, digits, '-' and '_'")
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
    def _secret(*, name: str, rotate: bool, **_: Any) -> str:
        act = agents.rotate_agent if rotate else agents.register_agent
        return act(name=name)[1]

    @staticmethod
    def _revoke(name: str) -> str:
        new = agents.revoke_agent(name=name, now=timezone.now())
        return f"Revoked the agent {name}." if new else f"The agent {name} was already revoked."
