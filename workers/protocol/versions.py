"""Versions of the protocol: an agent states its own with each request, a server names the oldest that gets jobs.

A message may gain a field with a default, which the other side ignores or fills in, without a new version.
"""

HEADER = "X-Splashboard-Protocol"
UNSTATED = 1  # of agents that state none
VERSION = 2
# Raised when a server no longer understands what agents before it do in a job. What they upload is accepted all the
# same: it was measured.
OLDEST = 1
DIGITS = 6


def stated() -> dict[str, str]:
    """Headers of an agent's requests."""
    return {HEADER: str(VERSION)}


def version_of(text: str | None) -> int | None:
    """What an agent's header states; None: no version."""
    if text is None:
        return UNSTATED
    return int(text) if text.isascii() and text.isdigit() and len(text) <= DIGITS else None
