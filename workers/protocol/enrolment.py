"""The answer to a new agent that shows its one-time code."""

import msgspec

# Of the header `Authorization: Code <code>`.
SCHEME = "Code"


class EnrolAnswer(msgspec.Struct, frozen=True, kw_only=True):
    agent: str
    secret: str
