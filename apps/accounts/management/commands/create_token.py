"""Creates a REST API token and prints its secret."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from apps.accounts import services
from apps.accounts.models import ApiToken, User


class Command(BaseCommand):
    help = "Create a token for the REST API and print its secret, which is shown once."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("user", help="owner of the token")
        parser.add_argument("name", help="purpose of the token, for example 'nightly import'")

    def handle(self, *_args: Any, **options: Any) -> None:
        user = User.objects.filter(username=options["user"]).first()
        if user is None:
            known = (
                ", ".join(User.objects.values_list("username", flat=True)[:10]) or "none; run manage.py sign_in_link"
            )
            raise CommandError(f"There is no user {options['user']!r}. Users: {known}")
        if not user.is_active:
            raise CommandError(f"User {user.username!r} is not active.")
        if not options["name"].strip() or len(options["name"]) > 100:
            raise CommandError("NAME must have 1 to 100 characters: describe the token's use.")
        if ApiToken.objects.filter(user=user, name=options["name"], revoked_at=None).exists():
            raise CommandError(f"{user.username!r} already has a token {options['name']!r}: choose another name.")
        _, secret = services.create_token(user=user, name=options["name"])
        if not user.may_write:
            self.stderr.write(f"Note: {user.username} has the role {user.role} and may only read.")
        self.stdout.write(secret)
