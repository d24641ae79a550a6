"""An output as it comes out of terminals, logs and redirections: its numbers are the same."""

import re
from collections.abc import Callable

Deform = Callable[[bytes], bytes]


def prefixed(prefix: bytes, *, tick: bytes = b"") -> Deform:
    """Each line after `prefix`, in which `tick` becomes the number of the line, in two digits."""

    def deform(content: bytes) -> bytes:
        lines = content.splitlines(keepends=True)
        return b"".join((prefix.replace(tick, b"%02d" % (n % 60)) if tick else prefix) + x for n, x in enumerate(lines))

    return deform


def _both(first: Deform, second: Deform) -> Deform:
    return lambda content: second(first(content))


PREFIXED: dict[str, Deform] = {
    "ts": prefixed(b"Nov 27 15:09:## ", tick=b"##"),
    "ts -s": prefixed(b"00:00:## ", tick=b"##"),
    "ts -i %.s": prefixed(b"0.0000## ", tick=b"##"),
    "ts, ISO 8601": prefixed(b"2026-11-27T15:09:## ", tick=b"##"),
    "ts %.s": prefixed(b"17642561##.123456 ", tick=b"##"),
    "ts [%F %T]": prefixed(b"[2026-11-27 15:09:##] ", tick=b"##"),
    "kubectl logs --timestamps": prefixed(b"2026-11-27T15:09:##.123456789Z ", tick=b"##"),
    "kubectl logs --prefix": prefixed(b"[pod/bench-7d9f/sysbench] "),
    "journalctl": prefixed(b"Nov 27 15:09:## db1 sysbench[4711]: ", tick=b"##"),
    "journalctl -o short-iso": prefixed(b"2026-11-27T15:09:##+0000 db1.example sysbench[4711]: ", tick=b"##"),
    "docker compose logs": prefixed(b"bench-1  | "),
}
PREFIXED["kubectl logs --prefix --timestamps"] = _both(
    PREFIXED["kubectl logs --timestamps"], PREFIXED["kubectl logs --prefix"]
)
PREFIXED["docker compose logs -t"] = _both(PREFIXED["kubectl logs --timestamps"], PREFIXED["docker compose logs"])


def _coloured(content: bytes) -> bytes:
    """As tools and terminals colour words and numbers, with a title and a cleared line."""
    coloured = re.sub(rb"(?<![\w.])(\d+)(?![\w.])", b"\x1b[1;32m\\1\x1b[0m", content)
    return b"\x1b]0;bench\x07\x1b[2K" + coloured + b"\x1b(B\x1b[m"


DEFORMED: dict[str, Deform] = {
    "CRLF": lambda content: content.replace(b"\n", b"\r\n"),
    "ANSI": _coloured,
    "UTF-8 with a mark": lambda content: b"\xef\xbb\xbf" + content,
    "UTF-16 LE": lambda content: b"\xff\xfe" + content.decode().encode("utf-16-le"),
    "UTF-16 BE": lambda content: b"\xfe\xff" + content.decode().encode("utf-16-be"),
    "UTF-16 LE with CRLF": lambda content: b"\xff\xfe" + content.replace(b"\n", b"\r\n").decode().encode("utf-16-le"),
    **PREFIXED,
}
DEFORMED["CRLF after ts"] = _both(PREFIXED["ts"], DEFORMED["CRLF"])
DEFORMED["colours in docker compose"] = _both(PREFIXED["docker compose logs"], DEFORMED["ANSI"])
