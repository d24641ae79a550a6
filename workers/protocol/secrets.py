"""What may hold a secret: one list, applied by the agent before it sends and by the server before it stores."""

import re
from collections.abc import Mapping
from typing import Any

# Paths of TLS key files stay. Statements of init_connect may name accounts; PostgreSQL's commands may hold anything.
NAME = re.compile(
    r"passw|passphrase|secret|_auth$|private_key|credential|token|filekey|conninfo|_command$|^init_connect$",
    re.IGNORECASE,
)
# Texts come from anywhere: a pattern looks ahead once from the start of each word, so that time grows with the length.
# `name = value;` within a list of options.
OPTION = re.compile(r"(?<![^;\s])(?=[^;\s]*?(?:passw|passphrase|secret))[^;]*+;?\s*+", re.IGNORECASE)
HIDDEN = "*"
ROUNDS = 8
STARS = re.compile(rb"\*{2,}")
# The value behind each.
IN_COMMANDS = (
    re.compile(
        r"""((?:^|\s)(?=-[\w.-]*?(?:pass|secret|token|credential))-[\w.-]*+(?:=|\s++))(\\"[^"\\]*\\"|"[^"]*"|'[^']*'|[^\s"']+)""",
        re.IGNORECASE,
    ),
    # mysql's own short form; `-p3306` is a port.
    re.compile(r"((?:^|\s)-p)(?!\d+(?:\s|$))([^\s]+)"),
    re.compile(r"(\w://[^\s:/@]*:)([^\s@/]+)(?=@)"),
    re.compile(r"((?:^|\s)(?=\w*?(?:PASSWORD|PWD|SECRET|TOKEN))\w++=)([^\s]+)"),
    # libpq's connection strings and addresses, also quoted once more by a shell; a quote that does not end is hidden to
    # the end of its line, since looking for it at each place anew would take time with the square of the length.
    re.compile(
        r"""((?<![\w.-])(?:ssl)?password\s*+=\s*+)('"'"'.{0,200}?'"'"'|\\?'(?:\\.|[^'\\\n])*'?|[^\s'"&]+)""",
        re.IGNORECASE,
    ),
    # `-p db.passwd=value` of YCSB, as a shell quotes it, and plain.
    re.compile(r"""((?:^|\s)'(?=[\w.]*?(?:passw|secret|credential))[\w.]++=)([^'\n]+)""", re.IGNORECASE),
    re.compile(r"""((?:^|\s)(?=[\w.]*?(?:passw|secret|credential))[\w.]++=)([^\s]+)""", re.IGNORECASE),
)
# `-p value`, `-p=value`, `-pvalue` of go-tpc.
GO_TPC = re.compile(r"go-tpc|tiup-bench")
ITS_PASSWORD = re.compile(r"((?:^|\s)-p(?:=|\s++)?)('[^']*'|[^\s]+)")


# In outputs, logs and other files: options, addresses and variables as in command lines, and the following.
ANYWHERE = (
    *(IN_COMMANDS[0], IN_COMMANDS[2], IN_COMMANDS[3], IN_COMMANDS[5]),
    # `password = value`, `"mysql_pass": "value"`, `[pass]: value`
    re.compile(
        r"""((?<![\w.-])(?=[\w.-]*?(?:passw|passphrase|secret|_?pass\b|sst_auth|credential))"""
        r"""[\w.-]++["'\]]?[ \t]*+[:=][ \t]*+)"""
        r"""("[^"\n]*"|'[^'\n]*'|[^\s,;}"']+)""",
        re.IGNORECASE,
    ),
    re.compile(
        r"(\bIDENTIFIED[ \t]++(?:WITH[ \t]++\S++[ \t]++)?(?:BY|AS)[ \t]++)('[^'\n]*'|\"[^\"\n]*\")", re.IGNORECASE
    ),
    re.compile(r"(^option p with value )('[^'\n]*')", re.MULTILINE),
    re.compile(r"(^Changed [^\s:]++:\w*?pass\w*+ from )(?!\*+ to \*+$)([^\n]+)", re.MULTILINE),
)
CLIENTS = re.compile(r"mysql|mariadb", re.IGNORECASE)
# What does not match it holds nothing of the above.
SUSPECT = re.compile(rb"pass|pwd|secret|token|credential|sst_auth|identified|option p |://[^\s/]*@| -p", re.IGNORECASE)


# Whether one was given is what the reader of an error needs to know.
WHETHER_GIVEN = re.compile(r"(\(using password: (?:YES|NO)\))")


def without_secrets(values: Mapping[str, str]) -> dict[str, str]:
    """Variables without the names that may hold a secret, lists of options without such options, and with `*` for what
    may be one in other values."""
    return {
        name: text_without_secrets(OPTION.sub("", value) if name.lower().endswith("_options") else value)
        for name, value in values.items()
        if not NAME.search(name)
    }


def text_without_secrets(text: str) -> str:
    """A reason, label or value with `*` for what may be a secret."""
    parts = WHETHER_GIVEN.split(text)
    for place in range(0, len(parts), 2):
        hidden = without_secrets_in(parts[place].encode("utf-8", "surrogatepass"))
        parts[place] = hidden.decode("utf-8", "surrogatepass")
    return "".join(parts)


def value_without_secrets(value: Any) -> Any:
    """A value of JSON with `*` for texts that may be secrets, by their content or by their names."""
    if isinstance(value, str):
        return text_without_secrets(value)
    if isinstance(value, Mapping):
        return {
            name: HIDDEN if isinstance(each, str) and NAME.search(name) else value_without_secrets(each)
            for name, each in value.items()
        }
    return [value_without_secrets(each) for each in value] if isinstance(value, list | tuple) else value


def without_secret_options(command: str) -> str:
    """A command line with `*` for each value that may be a secret."""
    for pattern in IN_COMMANDS:
        command = pattern.sub(rf"\g<1>{HIDDEN}", command)
    return ITS_PASSWORD.sub(rf"\g<1>{HIDDEN}", command) if GO_TPC.search(command) else command


def without_secrets_in(content: bytes) -> bytes:
    """An output, log or other file with `*` for each value that may be a secret; the same where there is none.

    What was hidden may bring two words together that look like a secret: the server would refuse the agent's file.
    """
    for _ in range(ROUNDS):
        cleaned = _hidden_once(content)
        if cleaned == content:
            break
        content = cleaned
    return content


def _hidden_once(content: bytes) -> bytes:
    if not SUSPECT.search(content):
        return content
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


def first_secret(content: bytes) -> int | None:
    """The line, from 1, of the first value that may be a secret; None: there is none, or each is written as `*`."""
    content = STARS.sub(HIDDEN.encode(), content)
    cleaned = without_secrets_in(content)
    if cleaned == content:
        return None
    pairs = zip(content.split(b"\n"), cleaned.split(b"\n"), strict=False)
    return next((number for number, (line, clean) in enumerate(pairs, 1) if line != clean), 1)
