"""A compared release with a finding: what tests of Releases share."""

from typing import Any

from apps.catalog.models import HardwareClass
from apps.regressions.models import Change, Finding
from apps.regressions.releases import check as releases_check
from apps.regressions.releases import stored_checks
from apps.regressions.releases.values import ReleaseCheck
from tests.regressions.releases.released import NEW, a_release, the_hardware
from tests.support.builders import START

ADDRESS = f"/releases/mariadb/{NEW}/"


def checked(version: str = NEW, hardware: HardwareClass | None = None) -> ReleaseCheck:
    check = releases_check.check(a_release(version), hardware or the_hardware())
    stored_checks.keep(check)
    return check


def a_finding(check: ReleaseCheck, **fields: Any) -> Finding:
    """Of the first row that is worse."""
    row = check.rows[0]
    assert row.system_id is not None
    finding = Finding.objects.create(
        **{
            "kind": "change",
            "platform_id": check.platform_id,
            "hardware_class_id": check.hardware_id,
            "release_id": check.release_id,
            "family": row.tool,
            "title": "slower",
            "verdict": "worse",
            "largest": 0.12,
            "changed_at": START,
            **fields,
        }
    )
    Change.objects.create(
        finding=finding,
        kind="release",
        verdict="worse",
        workload_id=row.workload_id,
        load_level_id=row.level_id,
        metric_id=row.metric_id,
        system_id=row.system_id,
        baseline_system_id=row.baseline_system_id,
        ratio=row.ratio,
        judged_at=START,
    )
    return finding
