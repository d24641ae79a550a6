"""Passwords are replaced by `*` before anything is stored or sent.

The list is the server's (`workers/protocol/secrets.py`) in regular expressions of Python 3.9; a test compares both.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

# Of variables that are left out.
NAME = re.compile(
    r"passw|passphrase|secret|_auth$|private_key|credential|token|filekey|conninfo|_command$|^init_connect$",
    re.IGNORECASE,
)
HIDDEN = "*"
ROUNDS = 8
LONG = 8  # characters; a shorter known password may be a word or a number of the output
# The value behind each.
IN_COMMANDS = (
    re.compile(
        r"""((?:^|\s)(?=-[\w.-]*?(?:pass|secret|token|credential))-[\w.-]*(?:=|\s+))(\\"[^"\\]*\\"|"[^"]*"|'[^']*'|[^\s"']+)""",
        re.IGNORECASE,
    ),
    re.compile(r"((?:^|\s)-p)(?!\d+(?:\s|$))([^\s]+)"),
    re.compile(r"(\w://[^\s:/@]*:)([^\s@/]+)(?=@)"),
    re.compile(r"((?:^|\s)(?=\w*?(?:PASSWORD|PWD|SECRET|TOKEN))\w+=)([^\s]+)"),
    re.compile(
        r"""((?<![\w.-])(?:ssl)?password\s*=\s*)('"'"'.{0,200}?'"'"'|\\?'(?:\\.|[^'\\\n])*'?|[^\s'"&]+)""",
        re.IGNORECASE,
    ),
    # `-p db.passwd=value` of YCSB, as a shell quotes it, and plain.
    re.compile(r"""((?:^|\s)'(?=[\w.]*?(?:passw|secret|credential))[\w.]+=)([^'\n]+)""", re.IGNORECASE),
    re.compile(r"""((?:^|\s)(?=[\w.]*?(?:passw|secret|credential))[\w.]+=)([^\s]+)""", re.IGNORECASE),
)
# `-p value`, `-p=value`, `-pvalue` of go-tpc.
GO_TPC = re.compile(r"go-tpc|tiup-bench")
ITS_PASSWORD = re.compile(r"((?:^|\s)-p(?:=|\s+)?)('[^']*'|[^\s]+)")
ANYWHERE = (
    *(IN_COMMANDS[0], IN_COMMANDS[2], IN_COMMANDS[3], IN_COMMANDS[5]),
    re.compile(
        r"""((?<![\w.-])(?=[\w.-]*?(?:passw|passphrase|secret|_?pass\b|sst_auth|credential))"""
        r"""[\w.-]+["'\]]?[ \t]*[:=][ \t]*)"""
        r"""("[^"\n]*"|'[^'\n]*'|[^\s,;}"']+)""",
        re.IGNORECASE,
    ),
    re.compile(r"(\bIDENTIFIED[ \t]+(?:WITH[ \t]+\S+[ \t]+)?(?:BY|AS)[ \t]+)('[^'\n]*'|\"[^\"\n]*\")", re.IGNORECASE),
    re.compile(r"(^option p with value )('[^'\n]*')", re.MULTILINE),
    re.compile(r"(^Changed [^\s:]+:\w*?pass\w* from )(?!\*+ to \*+$)([^\n]+)", re.MULTILINE),
)
CLIENTS = re.compile(r"mysql|mariadb", re.IGNORECASE)


def command(text: str, passwords: Iterable[str] = ()) -> str:
    """A command line without the values that may be secrets, nor the known `passwords`."""
    for password in filter(None, passwords):
        text = text.replace(password, HIDDEN) if len(password) >= LONG else text
    for pattern in IN_COMMANDS:
        text = pattern.sub(rf"\g<1>{HIDDEN}", text)
    return ITS_PASSWORD.sub(rf"\g<1>{HIDDEN}", text) if GO_TPC.search(text) else text


def variables(values: dict[str, str]) -> dict[str, str]:
    """Without those that may hold a secret, and with `*` for what may be one in other values."""
    return {name: output(value.encode()).decode() for name, value in values.items() if not NAME.search(name)}


def output(content: bytes, passwords: Iterable[str] = ()) -> bytes:
    """The same of an output or another file."""
    for password in passwords:
        if len(password) >= LONG:
            content = content.replace(password.encode(), HIDDEN.encode())
    for _ in range(ROUNDS):
        cleaned = _once(content)
        if cleaned == content:
            break
        content = cleaned
    return content


def _once(content: bytes) -> bytes:
    text = content.decode("latin-1")  # each byte is one character, and comes back as it was
    for pattern in ANYWHERE:
        text = pattern.sub(_hidden, text)
    if " -p" in text:
        text = "\n".join(
            IN_COMMANDS[1].sub(rf"\g<1>{HIDDEN}", line) if CLIENTS.search(line) else line for line in text.split("\n")
        )
        text = "\n".join(
            ITS_PASSWORD.sub(rf"\g<1>{HIDDEN}", line) if GO_TPC.search(line) else line for line in text.split("\n")
        )
    return text.encode("latin-1")


def _hidden(found: re.Match[str]) -> str:
    """Between its quotes, so that JSON stays JSON."""
    quote = found[2][0] if found[2][0] in "\"'" else ""
    return f"{found[1]}{quote}{HIDDEN}{quote}"
