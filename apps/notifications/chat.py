"""Messages to chats: Slack, Microsoft Teams, Mattermost; within their limits, and without markup of strangers. Pure.

| product | limits | documented at |
|---|---|---|
| Slack | 50 blocks, 3,000 characters a text, 4,000 of `text`; & < > escaped | docs.slack.dev/reference/block-kit |
| Teams | 28 KB a message; runs of rich text have no Markdown | learn.microsoft.com/adaptive-cards |
| Mattermost | 16,383 characters a post; `<…>` and `@…` are mentions | developers.mattermost.com/integrate/webhooks |
"""

import json
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

# Findings in a message: Slack shows two blocks of each, and one of the rest.
MOST_SHOWN = 24
MOST_EVENTS = 10
LONGEST_SENTENCE, LONGEST_EVENT = 1000, 500
SLACK_TEXT, SLACK_FALLBACK = 3000, 4000
TEAMS_BYTES = 28_000
MATTERMOST_TEXT = 16_383
ZERO_WIDTH = "\u200b"
CARD = "application/vnd.microsoft.card.adaptive"


@dataclass(frozen=True)
class ChatItem:
    """`sentence`: the verdict with its numbers; `label`: of the link to `address`; `events`: what happened."""

    sentence: str
    label: str
    address: str
    events: tuple[str, ...]

    @property
    def lines(self) -> list[str]:
        more = len(self.events) - MOST_EVENTS
        return [*self.events[:MOST_EVENTS], *([f"and {more:,} more"] if more > 0 else [])]


@dataclass(frozen=True)
class ChatMessage:
    """`opening`: what it says without items; `address`: of the list of all."""

    opening: str
    items: tuple[ChatItem, ...]
    address: str

    def rest(self, shown: int) -> str:
        return f"and {len(self.items) - shown:,} more" if shown < len(self.items) else ""


def slack(message: ChatMessage) -> dict[str, Any]:
    """Words of strangers are plain text, which has no formatting. `text` is the notification, and all that receivers
    without blocks show."""

    def fallback(shown: int) -> str:
        return _lines(message, shown, escape=_plain_escaped, link=lambda item: item.address, more="{} {}")

    text = fallback(_fitting(message, lambda shown: len(fallback(shown)) <= SLACK_FALLBACK))
    blocks: list[dict[str, Any]] = []
    for item in message.items[:MOST_SHOWN]:
        details = [_mrkdwn(f"<{item.address}|{item.label}>"), *([_plain("\n".join(item.lines))] if item.events else [])]
        blocks += [{"type": "section", "text": _plain(item.sentence)}, {"type": "context", "elements": details}]
    if rest := message.rest(MOST_SHOWN):
        blocks.append({"type": "context", "elements": [_mrkdwn(f"<{message.address}|{rest}>")]})
    return {
        "text": _cut(text, SLACK_FALLBACK),
        "mrkdwn": False,
        "blocks": blocks or [{"type": "section", "text": _plain(message.opening)}],
    }


def mattermost(message: ChatMessage) -> dict[str, Any]:
    def text(shown: int) -> str:
        link = "[{0.label}]({0.address})".format
        return _lines(message, shown, escape=_markdown_escaped, link=link, more="[{}]({})")

    shown = _fitting(message, lambda shown: len(text(shown)) <= MATTERMOST_TEXT)
    return {"text": _cut(text(shown), MATTERMOST_TEXT)}


def teams(message: ChatMessage) -> dict[str, Any]:
    def body(shown: int) -> dict[str, Any]:
        elements = [element for item in message.items[:shown] for element in _elements(item)]
        if rest := message.rest(shown):
            elements.append(_rich(_link(rest, message.address)))
        card = {
            "$schema": "http://adaptivecards.io/schemas/adaptive-card.json",
            "type": "AdaptiveCard",
            "version": "1.2",
            "body": elements or [_rich(_run(message.opening))],
        }
        return {"type": "message", "attachments": [{"contentType": CARD, "contentUrl": None, "content": card}]}

    return body(_fitting(message, lambda shown: len(encoded(body(shown))) <= TEAMS_BYTES))


def encoded(body: dict[str, Any]) -> bytes:
    """As it is sent."""
    return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()


def text_of(body: dict[str, Any]) -> str | None:
    """The message as text; None: `body` is of no chat."""
    if "text" in body:
        return str(body["text"])
    if body.get("type") != "message":
        return None
    return "\n".join(
        "".join(
            f"{run['text']} ({run['selectAction']['url']})" if "selectAction" in run else run["text"] for run in runs
        )
        for runs in (element["inlines"] for element in body["attachments"][0]["content"]["body"])
    )


# ---------------------------------------------------------------- parts


def _lines(
    message: ChatMessage, shown: int, *, escape: Callable[[str], str], link: Callable[[ChatItem], str], more: str
) -> str:
    if not message.items:
        return escape(message.opening)
    lines: list[str] = []
    for item in message.items[:shown]:
        lines += [escape(_cut(item.sentence, LONGEST_SENTENCE)), link(item)]
        lines += [f"- {escape(_cut(line, LONGEST_EVENT))}" for line in item.lines]
        lines.append("")
    if rest := message.rest(shown):
        lines.append(more.format(rest, message.address))
    return "\n".join(lines).rstrip("\n")


def _fitting(message: ChatMessage, fits: Callable[[int], bool]) -> int:
    """The largest number of items, at least one, with which it fits."""
    most = min(len(message.items), MOST_SHOWN)
    if fits(most):
        return most
    return max(1, bisect_left(range(most), True, key=lambda shown: not fits(shown)) - 1)


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _plain(text: str) -> dict[str, Any]:
    """Cut before a character, not within its escape."""
    kept, length = list[str](), 0
    for letter in map(_escaped, text):
        length += len(letter)
        if length >= SLACK_TEXT:
            kept.append("…")
            break
        kept.append(letter)
    return {"type": "plain_text", "text": "".join(kept), "emoji": False}


def _mrkdwn(text: str) -> dict[str, Any]:
    return {"type": "mrkdwn", "text": text, "verbatim": True}


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _plain_escaped(text: str) -> str:
    """Also without mentions, which receivers other than Slack read in plain text."""
    return _escaped(text).replace("@", f"@{ZERO_WIDTH}")


def _markdown_escaped(text: str) -> str:
    """Mattermost's Markdown; what Slack's format would mean in it is escaped as entities."""
    return "".join(f"\\{letter}" if letter in "\\`*_{}[]#|~!" else letter for letter in _plain_escaped(text))


def _elements(item: ChatItem) -> Sequence[dict[str, Any]]:
    first = _rich(_run(_cut(item.sentence, LONGEST_SENTENCE)))
    events = [_rich(_run(f"• {_cut(line, LONGEST_EVENT)}", isSubtle=True), spacing="None") for line in item.lines]
    return [{**first, "separator": True}, _rich(_link(item.label, item.address), spacing="None"), *events]


def _rich(*runs: dict[str, Any], **style: Any) -> dict[str, Any]:
    return {"type": "RichTextBlock", "inlines": list(runs), **style}


def _run(text: str, **style: Any) -> dict[str, Any]:
    """Without the functions that are replaced: {{DATE(…)}}."""
    return {"type": "TextRun", "text": text.replace("{{", f"{{{ZERO_WIDTH}{{"), **style}


def _link(label: str, address: str) -> dict[str, Any]:
    return _run(label, selectAction={"type": "Action.OpenUrl", "url": address})
