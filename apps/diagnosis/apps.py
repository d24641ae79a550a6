"""Adds what limits the sides to that which is kept with a saved comparison."""

from django.apps import AppConfig

from apps.comparison.elsewhere import ELSEWHERE


class DiagnosisConfig(AppConfig):
    name = "apps.diagnosis"

    def ready(self) -> None:
        ELSEWHERE.append("apps.diagnosis.limits")
