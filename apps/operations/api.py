"""Interface of this app for other apps; models has the tables, the rest is internal."""

from apps.operations.health.report import report
from apps.operations.health.services import BROKER, DATABASE, MIGRATIONS, missing_services
from apps.operations.health.values import HealthVerdict

__all__ = ["BROKER", "DATABASE", "MIGRATIONS", "HealthVerdict", "missing_services", "report"]
