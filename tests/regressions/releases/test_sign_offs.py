"""A sign-off is refused if the comparison changed meanwhile, or if the same person signed the same before."""

from typing import Any

import pytest

from apps.accounts.models import User
from apps.core.problems import Invalid
from apps.regressions.models import SignOff
from apps.regressions.releases import check, sign_offs, stored_checks
from tests.regressions.releases.released import a_release, the_hardware, two_releases
from tests.support.builders import a_user

pytestmark = pytest.mark.django_db


@pytest.fixture
def seen() -> dict[str, Any]:
    two_releases()
    found = check.check(a_release(), the_hardware())
    stored_checks.keep(found)
    return stored_checks.seen(found)


def sign(seen: dict[str, Any], looked_at: str, by: User) -> SignOff:
    return sign_offs.sign_off(
        release=a_release(), hardware_class=the_hardware(), by=by, note="", seen=seen, looked_at=looked_at
    )


def test_what_changed_meanwhile_is_refused(seen: dict[str, Any]) -> None:
    with pytest.raises(sign_offs.ComparisonChanged, match=r"^fingerprint: the comparison has changed since you opened"):
        sign(seen, "another", a_user())


def test_the_same_is_not_signed_twice(seen: dict[str, Any]) -> None:
    ann = a_user()
    sign(seen, seen["fingerprint"], ann)
    with pytest.raises(Invalid, match=r"^you have signed this off already"):
        sign(seen, seen["fingerprint"], ann)
