"""Prints the address of a one-time sign-in link, by default for an administrator."""

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.urls import reverse
from django.utils import timezone

from apps.accounts import services
from apps.accounts.models import User
from apps.core.problems import Invalid


class Command(BaseCommand):
    help = "Print the address of a link that signs in once, within an hour. Creates an administrator if there is none."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("username", nargs="?", default="", help="default: the first administrator, else 'admin'")

    def handle(self, *_args: Any, **options: Any) -> None:
        user = self._user(options["username"])
        secret = services.create_sign_in_link(user=user, now=timezone.now())
        self.stdout.write(f"{settings.ADDRESS}{reverse('web:sign-in-link', kwargs={'secret': secret})}")

    @staticmethod
    def _user(username: str) -> User:
        if username:
            user = User.objects.filter(username=username, is_active=True).first()
            if user is None:
                raise CommandError(f"There is no active user {username!r}.")
            return user
        try:
            return services.first_administrator()
        except Invalid as refused:
            raise CommandError(str(refused)) from refused
