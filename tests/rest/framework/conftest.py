"""Names of tests that are made from the OpenAPI schema."""

import pytest
from _pytest.nodeid import coerce_node_id


def pytest_itemcollected(item: pytest.Item) -> None:
    """With its operation, without which all of them are one test for the processes that share them."""
    label = getattr(item, "operation_label", None)
    if label and label not in item.nodeid:
        item._id = coerce_node_id(f"{item.nodeid}[{label}]")
