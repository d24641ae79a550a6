"""Creates or changes a user and prints the address of a one-time sign-in link."""

from typing import Any

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import transaction
from django.urls import reverse
from django.utils import timezone

from apps.accounts import services
from apps.accounts.models import User

LOCKED = ", locked: nobody signs in with this name until set_user without --inactive"


class Command(BaseCommand):
    help = "Create or change a user: role, e-mail address, active or not. Prints a one-time sign-in link."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("username")
        parser.add_argument("--role", choices=User.Role.values, help="a new user without it is a reader")
        parser.add_argument("--email", help="for notifications, and to be known by at the OpenID Connect provider")
        parser.add_argument("--inactive", action="store_true", help="disable sign-in; the user's records are kept")

    def handle(self, *_args: Any, **options: Any) -> None:
        with transaction.atomic():
            user, is_new = self._kept(options)
        locked = "" if user.is_active else LOCKED
        self.stderr.write(f"{user.username} is {'made: ' if is_new else ''}{user.get_role_display()}{locked}.")
        if user.is_active:
            secret = services.create_sign_in_link(user=user, now=timezone.now())
            self.stdout.write(f"{settings.ADDRESS}{reverse('web:sign-in-link', kwargs={'secret': secret})}")

    def _kept(self, options: dict[str, Any]) -> tuple[User, bool]:
        """The person, and whether they are new."""
        known = User.objects.select_for_update().filter(username=options["username"]).first()
        user, is_new = known or User(username=options["username"]), known is None
        user.role = options["role"] or user.role
        if options["email"] is not None:
            user.email = user.invited_as = options["email"]
        user.is_active = not options["inactive"]
        if is_new:
            user.set_unusable_password()
        try:
            services.keep_person(user=user)
        except ValidationError as error:
            raise CommandError(
                "; ".join(f"{field}: {' '.join(messages)}" for field, messages in error.message_dict.items())
            ) from error
        return user, is_new
