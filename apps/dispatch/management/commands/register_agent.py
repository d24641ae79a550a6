"""Prints the secret of an agent."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from apps.core.problems import Invalid
from apps.dispatch import agents


class Command(BaseCommand):
    help = "Register an agent and print its secret, which cannot be read again."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", help="letters, digits, '-' and '_'")
        parser.add_argument("--rotate", action="store_true", help="give a known agent a new secret; the old one ends")

    def handle(self, *_args: Any, **options: Any) -> None:
        act = agents.rotate_agent if options["rotate"] else agents.register_agent
        try:
            _, secret = act(name=options["name"])
        except Invalid as refused:
            raise CommandError(str(refused)) from refused
        self.stdout.write(secret)
