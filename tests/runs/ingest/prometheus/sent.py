"""Files of series as `splashboard attach` sends them."""

import gzip
import json
from collections.abc import Mapping, Sequence
from typing import Any

Values = Sequence[float | None] | float


def a_file(
    *series: tuple[str, Mapping[str, str], Sequence[float], Values],
    node: str = "",
    types: Mapping[str, str] | None = None,
) -> bytes:
    """Each: name, labels, times (s since 1970), values or the only one."""
    lines: list[dict[str, Any]] = [
        {"splashboard": "prometheus series", "version": 1, "source": "http://prometheus:9090"}
    ]
    for number, (name, labels, times, values) in enumerate(series):
        lines.append({"clock": number, "at": list(times)})
        line: dict[str, Any] = {"labels": {"__name__": name, **labels}, "clock": number}
        line["value" if isinstance(values, int | float) else "values"] = values
        lines.append(line | ({"node": node} if node else {}) | {"type": (types or {}).get(name, "")})
    return packed("\n".join(map(json.dumps, lines)))


def packed(text: str) -> bytes:
    return gzip.compress(text.encode())
