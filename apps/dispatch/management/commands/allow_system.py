"""Allow a system to an agent, or refuse it."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from apps.core.problems import Invalid
from apps.dispatch.jobs import bindings


class Command(BaseCommand):
    help = "Allow an agent to measure a system, by its slug; it gets no jobs for others."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("agent", help="its name")
        parser.add_argument("system", nargs="+", help="slugs; they need not exist yet")
        parser.add_argument("--refuse", action="store_true", help="the agent gets no further job for them")

    def handle(self, *_args: Any, **options: Any) -> None:
        is_allowed, now = not options["refuse"], timezone.now()
        for slug in options["system"]:
            try:
                bindings.decide(agent=options["agent"], slug=slug, is_allowed=is_allowed, by=None, now=now)
            except Invalid as refused:
                raise CommandError(str(refused)) from refused
            self.stdout.write(f"{'Allowed' if is_allowed else 'Refused'} {slug} to the agent {options['agent']}.")
