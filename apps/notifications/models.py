"""Subscriptions, notices and deliveries.

A note (regressions.models.Note) that matches a subscription becomes a notice; the due notices become one delivery for
each receiver: an e-mail or a POST.
"""

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.utils import timezone

from apps.accounts.models import User
from apps.notifications.encryption import EncryptedTextField
from apps.regressions.models import Note


class NotificationEvent(models.TextChoices):
    """Events that a subscription can select; ASSIGNED and MENTIONED are sent to the person only."""

    FOUND = "found"
    REOPENED = "reopened", "re-opened"
    VERIFY = "verify", "to verify"
    STATE = "state", "state set"
    COMMENT = "comment"
    ASSIGNED = "assigned"
    MENTIONED = "mentioned"


CHOOSABLE = (
    NotificationEvent.FOUND,
    NotificationEvent.REOPENED,
    NotificationEvent.VERIFY,
    NotificationEvent.STATE,
    NotificationEvent.COMMENT,
)
USUAL = (NotificationEvent.FOUND, NotificationEvent.REOPENED, NotificationEvent.VERIFY, NotificationEvent.STATE)


def usual_events() -> list[str]:
    return [event.value for event in USUAL]


class Team(models.Model):
    """People responsible for the same findings."""

    name = models.CharField(max_length=80, unique=True)
    members = models.ManyToManyField(User, related_name="teams", blank=True)

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name


class Subscription(models.Model):
    """Events sent to a team, where and when.

    `address`: of a mailbox (empty: the members' own) or of a webhook. `secret` signs requests to a generic webhook.
    `asks`: a filter of findings (regressions.filters); empty: all. A digest is sent at `hour` in `zone`, a weekly one
    on Mondays. `after`: notes up to this id are not sent; they are older than the subscription.
    """

    class Kind(models.TextChoices):
        EMAIL = "e-mail", "E-mail"
        WEBHOOK = "webhook"
        SLACK = "slack", "Slack"
        TEAMS = "teams", "Microsoft Teams"
        MATTERMOST = "mattermost"

    class Digest(models.TextChoices):
        AT_ONCE = "at once"
        DAILY = "daily"
        WEEKLY = "weekly"

    team = models.ForeignKey(Team, on_delete=models.PROTECT, related_name="subscriptions")
    kind = models.CharField(max_length=12, choices=Kind.choices)
    address = EncryptedTextField(blank=True)  # a chat webhook's is its secret
    secret = EncryptedTextField(blank=True)
    asks = models.JSONField(default=dict, blank=True)
    events = ArrayField(models.CharField(max_length=12), default=usual_events)
    digest = models.CharField(max_length=8, choices=Digest.choices, default=Digest.AT_ONCE)
    hour = models.PositiveSmallIntegerField(default=7)
    zone = models.CharField(max_length=60, default="UTC")
    is_enabled = models.BooleanField(default=True)
    after = models.BigIntegerField(default=0)
    created_by = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["team__name", "id"]
        constraints = [
            models.CheckConstraint(
                condition=Q(kind__in=["e-mail", "webhook", "slack", "teams", "mattermost"]),
                name="subscription_kind_known",
            ),
            models.CheckConstraint(
                condition=Q(digest__in=["at once", "daily", "weekly"]), name="subscription_digest_known"
            ),
            models.CheckConstraint(condition=Q(hour__lt=24), name="subscription_hour_of_day"),
            models.CheckConstraint(condition=Q(kind="e-mail") | ~Q(address=""), name="webhook_has_address"),
            models.CheckConstraint(condition=~Q(kind="webhook") | ~Q(secret=""), name="webhook_is_signed"),
        ]

    @property
    def is_chat(self) -> bool:
        """Whether who knows the address may post to the channel, so that it is the secret."""
        return self.kind not in (self.Kind.EMAIL, self.Kind.WEBHOOK)


class Considered(models.Model):
    """Marks a note as processed: it never becomes notices again."""

    note = models.OneToOneField(Note, on_delete=models.CASCADE, primary_key=True, related_name="considered")


class Notice(models.Model):
    """A note to be sent to a subscription or a person. `bundled_at`: when it was put into deliveries."""

    subscription = models.ForeignKey(Subscription, on_delete=models.CASCADE, null=True, blank=True)
    person = models.ForeignKey(User, on_delete=models.CASCADE, null=True, blank=True)
    note = models.ForeignKey(Note, on_delete=models.CASCADE, related_name="notices")
    event = models.CharField(max_length=12)
    made_at = models.DateTimeField(default=timezone.now)
    bundled_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["id"]
        indexes = [models.Index(fields=["subscription"], condition=Q(bundled_at=None), name="notice_waiting")]
        constraints = [
            # Never the same note twice.
            models.UniqueConstraint(
                fields=["subscription", "note"], condition=Q(person=None), name="notice_once_a_subscription"
            ),
            models.UniqueConstraint(
                fields=["person", "note"], condition=Q(subscription=None), name="notice_once_a_person"
            ),
            models.CheckConstraint(
                condition=Q(subscription__isnull=True) ^ Q(person__isnull=True), name="notice_has_one_receiver"
            ),
        ]


class Delivery(models.Model):
    """One e-mail or one POST with its notices; without notices it is a test.

    `to`: the mailbox, empty for a webhook. `content`: what is sent, the same at every attempt. Until `sent_at` or
    `given_up_at` is set, the next attempt is at `next_at`. `answer`: last response or connection error.
    """

    subscription = models.ForeignKey(
        Subscription, on_delete=models.CASCADE, null=True, blank=True, related_name="deliveries"
    )
    person = models.ForeignKey(User, on_delete=models.CASCADE, null=True, blank=True, related_name="+")
    notices = models.ManyToManyField(Notice, related_name="deliveries", blank=True)
    to = models.CharField(max_length=254, blank=True)
    content = models.JSONField()
    made_at = models.DateTimeField(default=timezone.now)
    attempts = models.PositiveSmallIntegerField(default=0)
    next_at = models.DateTimeField(default=timezone.now)
    sent_at = models.DateTimeField(null=True, blank=True)
    given_up_at = models.DateTimeField(null=True, blank=True)
    answer = models.CharField(max_length=500, blank=True)

    class Meta:
        ordering = ["-id"]
        indexes = [
            models.Index(fields=["next_at"], condition=Q(sent_at=None, given_up_at=None), name="delivery_waiting"),
            models.Index(fields=["given_up_at"], condition=~Q(given_up_at=None), name="delivery_given_up"),
        ]

    @property
    def state(self) -> str:
        if self.sent_at:
            return "sent"
        if self.given_up_at:
            return "given up"
        return "to be tried again" if self.attempts else "waiting"
