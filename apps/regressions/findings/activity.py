"""Notes of a finding as sentences. Pure."""

from collections.abc import Mapping
from typing import Any

from apps.core.text import counted

SYSTEM = "Splashboard"


def sentence(*, what: str, by: str, text: str, detail: Mapping[str, Any]) -> str:
    """`by`: user name, empty: the system. The text of a comment or a reason follows after a colon."""
    action = _action(what, by or SYSTEM, detail)
    return f"{action}: {text}" if text else action


def _action(what: str, who: str, detail: Mapping[str, Any]) -> str:  # noqa: PLR0911, PLR0912  one sentence per action
    count = len(detail.get("changes", ()))
    changes = counted(count, "change")
    match what:
        case "found" | "back" | "gone" | "changed" | "grown":
            return {
                "found": f"{who} found {changes}",
                "back": f"{changes} came back",
                "gone": f"{changes} no longer seen",
                "changed": f"{changes} turned from better to worse or back",
                "grown": _growth(changes, detail),
            }[what]
        case "state":
            until = f" until {detail['until']}" if detail.get("until") else ""
            return f"{who} set it from {detail.get('from', '?')} to {detail.get('to', '?')}{until}"
        case "reopened":
            return f"{who} re-opened it; it was {detail.get('from', 'closed')}"
        case "owner":
            return f"{who} assigned it to {detail['to']}" if detail.get("to") else f"{who} removed its owner"
        case "due":
            return f"{who} set its due date to {detail['to']}" if detail.get("to") else f"{who} removed its due date"
        case "labels":
            named = ", ".join(f"“{label}”" for label in detail.get("to", ()))
            return f"{who} labelled it {named}" if named else f"{who} removed its labels"
        case "comment":
            return f"{who} said"
        case "link" | "unlink":
            return f"{who} {'linked' if what == 'link' else 'unlinked'} {detail.get('url', '')}"
        case "merged" if "into" in detail:
            return f"{who} merged it into finding {detail['into']}, with {changes}"
        case "merged":
            return f"{who} merged finding {detail.get('from', '?')} into it, with {changes}"
        case "split" if "into" in detail:
            return f"{who} split {changes} from it into finding {detail['into']}"
        case "split":
            return f"{who} split it with {changes} from finding {detail.get('from', '?')}"
        case "repetitions":
            return f"{who} asked for {detail.get('repetitions', '?')} more repetitions (campaign {detail['campaign']})"
    return f"{who}: {what}"


def _growth(changes: str, detail: Mapping[str, Any]) -> str:
    """ "1 change grew from −5.0 % to −48 % since the finding was confirmed": sizes of the change that grew most."""
    if "from" not in detail:
        return f"{changes} exceeded the accepted size"
    most = "" if len(detail.get("changes", ())) == 1 else ", one"
    decided = {"not reproducible": "dismissed as not reproducible"}.get(state := str(detail.get("state", "")), state)
    return f"{changes} grew{most} from {detail['from']} to {detail['to']} since the finding was {decided}"
