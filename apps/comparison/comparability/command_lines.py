"""Program and options of a load tool's command line, without those that are recorded elsewhere. Pure."""

import re
import shlex
from collections.abc import Iterator
from functools import lru_cache

# `--name=value`, `--name value`, `-n value`, `-nvalue`; Lua's tools take `_` for `-`.
LONG = re.compile(r"--([A-Za-z][\w.-]*)(?:=(.*))?", re.DOTALL)
SHORT = re.compile(r"-([A-Za-z])(.*)", re.DOTALL)
# Target, duration and load: recorded elsewhere, or irrelevant.
PASSING = re.compile(
    r"((mysql|pgsql)-)?(host|port|socket|user|db)|(.*-)?password|config-file|secrets|db-driver"
    r"|threads|time|rate|events|warmup|duration|report-checkpoints|[hPSup]"
)
# The same of tools whose letters and words mean other things elsewhere.
PASSING_OF = {
    "pgbench": re.compile(r"client|jobs|dbname|username|transactions|progress|[cdjtPRTU]"),
    "fio": re.compile(r"numjobs|runtime|output|directory|filename|name"),
}

QUOTES, BLANKS = re.compile(r"""['"\\]"""), re.compile(r"[ \t\r\n]+")


def options(command: str) -> tuple[str, ...]:
    """ "name=value", sorted; the name alone if it has no value."""
    own = PASSING_OF.get(program(command).rpartition(" ")[2], PASSING)
    named = ((name, value) for name, value in _given(command) if name)
    known = ((name, value) for name, value in named if not (PASSING.fullmatch(name) or own.fullmatch(name)))
    return tuple(sorted(f"{name}={value}" if value else name for name, value in known))


def program(command: str) -> str:
    """Program and subcommand without the directory: "sysbench oltp_read_only"."""
    return next((value for name, value in _given(command) if not name), "")


@lru_cache(maxsize=4096)
def _given(command: str) -> tuple[tuple[str, str], ...]:
    return tuple(_pairs(command))


def _pairs(command: str) -> Iterator[tuple[str, str]]:
    """Pairs of option and value; words before the first option have an empty name. Words after `--name=value` are
    dropped: they are the tool's command ("run")."""
    own: list[str] = []
    name, is_open = "", True
    for word in _words(command):
        if found := LONG.fullmatch(word) or SHORT.fullmatch(word):
            yield name, " ".join(own)
            name, value = found[1].replace("_", "-"), found[2] or ""
            own, is_open = [value] if value else [], not value
        elif is_open:
            own.append(word if name else word.rpartition("/")[2])
    yield name, " ".join(own)


def _words(command: str) -> list[str]:
    if not QUOTES.search(command):
        return [word for word in BLANKS.split(command) if word]  # as shlex does, a hundred times as fast
    try:
        return shlex.split(command)
    except ValueError:  # a quote that is never closed
        return command.split()
