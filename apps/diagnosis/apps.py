"""Adds what limits the sides to that which is kept with a saved comparison."""

from importlib import import_module

from django.apps import AppConfig


class DiagnosisConfig(AppConfig):
    name = "apps.diagnosis"

    def ready(self) -> None:
        # Models may be imported only now.
        import_module("apps.diagnosis.limits")
