"""Interface of this app for other apps; models has the tables, the rest is internal."""

from apps.operations import certificates
from apps.operations.health.report import report
from apps.operations.health.services import BROKER, DATABASE, MIGRATIONS, missing_services
from apps.operations.health.values import HealthVerdict
from apps.operations.state import exposition

__all__ = [
    "BROKER",
    "DATABASE",
    "MIGRATIONS",
    "HealthVerdict",
    "certificates",
    "exposition",
    "missing_services",
    "report",
]
