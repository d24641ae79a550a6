"""What to do about a receiver's refusal. Pure."""

from apps.notifications.webhooks.outcome import Outcome

_REVOKED = "the webhook was removed: create another in {} and enter its address"
_RESTRICTED = "an administrator of Slack restricts who posts to this channel: allow the app, or choose another channel"
_FORMAT = "{} does not accept this message: please report it as a defect of Splashboard"

# By kind: a part of the answer, and the remedy. Slack: docs.slack.dev/messaging, "Sending messages using incoming
# webhooks"; Mattermost: ids of its errors; Teams: error codes of Azure Logic Apps, on which Workflows run.
_BY_WORDS = {
    "slack": (
        *((word, _REVOKED.format("Slack")) for word in ("invalid_token", "no_service", "no_team", "team_disabled")),
        ("channel_is_archived", "unarchive the channel, or create a webhook for another"),
        ("channel_not_found", _REVOKED.format("Slack, for a channel that exists")),
        *((word, _RESTRICTED) for word in ("action_prohibited", "posting_to_general_channel_denied")),
        *((word, _FORMAT.format("Slack")) for word in ("invalid_blocks", "invalid_payload", "no_text")),
    ),
    "teams": (
        ("WorkflowTriggerIsNotEnabled", "turn the workflow on in Teams: Workflows, Manage"),
        ("WorkflowNotFound", _REVOKED.format("Teams: Workflows")),
        ("AuthorizationRequired", "let anyone trigger the workflow: its trigger, Who can trigger the flow"),
        ("AuthorizationFailed", "copy the whole address of the workflow's trigger, with its sig, and enter it again"),
        ("SchemaMismatch", "use the workflow for webhook requests (Adaptive Cards), without a schema of its own"),
    ),
    "mattermost": (
        ("incoming_webhook.disabled", "enable incoming webhooks in the System Console: Integrations"),
        ("incoming_webhook.permissions", "give the webhook's creator access to its channel, or create another"),
        ("incoming_webhook.channel", _REVOKED.format("Mattermost, for a channel that exists")),
        ("incoming_webhook.invalid", _REVOKED.format("Mattermost")),
        ("Invalid webhook", _REVOKED.format("Mattermost")),
        ("incoming_webhook.text.length", _FORMAT.format("Mattermost")),
    ),
}
_BY_STATUS = {
    401: "check the address: its secret part is missing or wrong",
    403: "check the address, and whether the webhook still exists",
    404: "check the address, and whether the webhook still exists",
    410: "the webhook was removed: create another and enter its address",
    413: "the receiver accepts less in one message: choose a digest or a narrower filter",
    429: "the receiver limits how often it is written to: choose a digest or a narrower filter if this stays",
}


def remedy_of(kind: str, outcome: Outcome) -> str:
    """Empty: delivered, no answer, or none known. `kind`: of the subscription."""
    if outcome.is_sent or outcome.status is None:
        return ""
    found = (remedy for word, remedy in _BY_WORDS.get(kind, ()) if word.lower() in outcome.words.lower())
    return next(found, _BY_STATUS.get(outcome.status, ""))
