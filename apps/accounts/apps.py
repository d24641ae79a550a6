"""Connects the audit log with Django's signals of sign-ins."""

from django.apps import AppConfig


class Accounts(AppConfig):
    name = "apps.accounts"

    def ready(self) -> None:
        from apps.accounts import sign_ins  # noqa: PLC0415 - models are not loaded before

        sign_ins.connect()
