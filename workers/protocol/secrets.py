"""What may hold a secret: one list, applied by the agent before it sends and by the server before it stores."""

import re
from collections.abc import Mapping

# Paths of TLS key files stay. Statements of init_connect may name accounts.
NAME = re.compile(r"passw|passphrase|secret|_auth$|private_key|credential|token|^init_connect$", re.IGNORECASE)
# Texts come from anywhere: a pattern looks ahead once from the start of each word, so that time grows with the length.
# `name = value;` within a list of options.
OPTION = re.compile(r"(?<![^;\s])(?=[^;\s]*?(?:passw|passphrase|secret))[^;]*+;?\s*+", re.IGNORECASE)
HIDDEN = "*"
# The value behind each.
IN_COMMANDS = (
    re.compile(
        r"""((?:^|\s)(?=-[\w.-]*?(?:pass|secret|token|credential))-[\w.-]*+(?:=|\s++))("[^"]*"|'[^']*'|[^\s"']+)""",
        re.IGNORECASE,
    ),
    # mysql's own short form; `-p3306` is a port.
    re.compile(r"((?:^|\s)-p)(?!\d+(?:\s|$))([^\s]+)"),
    re.compile(r"(\w://[^\s:/@]*:)([^\s@/]+)(?=@)"),
    re.compile(r"((?:^|\s)(?=\w*?(?:PASSWORD|PWD|SECRET|TOKEN))\w++=)([^\s]+)"),
)


def without_secrets(values: Mapping[str, str]) -> dict[str, str]:
    """Variables without the names that may hold a secret, and lists of options without such options."""
    return {
        name: OPTION.sub("", value) if name.lower().endswith("_options") else value
        for name, value in values.items()
        if not NAME.search(name)
    }


def without_secret_options(command: str) -> str:
    """A command line with `*` for each value that may be a secret."""
    for pattern in IN_COMMANDS:
        command = pattern.sub(rf"\g<1>{HIDDEN}", command)
    return command
