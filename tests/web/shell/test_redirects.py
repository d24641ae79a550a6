"""Links to addresses that have changed."""

import pytest
from django.test import Client


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("/ddl/?system=a&system=b%20c", "/schema-changes/?system=a&system=b%20c"),
        ("/ddl/schema-changes.csv?algorithm=copy", "/schema-changes/schema-changes.csv?algorithm=copy"),
        ("/failover/failovers.md", "/failovers/failovers.md"),
        ("/history/7/", "/trends/7/"),
        ("/api/v1/histories/7/?limit=1", "/api/v1/trends/7/?limit=1"),
    ],
)
def test_old_address_leads_to_the_new_one_for_good(client: Client, old: str, new: str) -> None:
    answer = client.get(old)
    assert (answer.status_code, answer["Location"]) == (301, new)
