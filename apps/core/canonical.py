"""Canonical JSON of parameters, so that equal parameters have equal hashes.

In the spirit of RFC 8785: sorted keys, no whitespace, UTF-8. Equal numbers have equal hashes (1 and 1.0).
"""

import hashlib
import json
import math
from collections.abc import Mapping
from typing import Any


def _plain(value: Any) -> Any:
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ValueError(f"{value} has no canonical form: use a finite number or null")
        return int(value) if value.is_integer() else value
    if isinstance(value, Mapping):
        for key in value:
            if not isinstance(key, str):
                raise ValueError(f"key {key!r} has no canonical form: use a text")
        return {key: _plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(entry) for entry in value]
    return value


def canonical_json(value: Any) -> str:
    """Raises ValueError for a number that is not finite or a key that is not a string."""
    return json.dumps(_plain(value), sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def canonical_hash(value: Any) -> str:
    """SHA-256 of the canonical JSON, 64 hexadecimal digits."""
    return hashlib.sha256(canonical_json(value).encode()).hexdigest()
