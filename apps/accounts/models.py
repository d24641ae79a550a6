"""Users, their identities at a provider, their sessions, API tokens, sign-in links, shared links and saved filters.

Of tokens and links only digests are stored; the key of a session is stored, as Django does.
"""

from datetime import datetime
from typing import ClassVar

from django.contrib.auth.models import AbstractUser
from django.contrib.sessions.base_session import AbstractBaseSession
from django.db import models


class User(AbstractUser):
    """Readers read; engineers also plan and submit; administrators also manage people and agents."""

    class Role(models.TextChoices):
        READER = "reader"
        ENGINEER = "engineer"
        ADMINISTRATOR = "administrator"

    role = models.CharField(max_length=16, choices=Role.choices, default=Role.READER)
    # Address by which an account at the provider is bound to the person. Administrators alone set it; `email` is
    # everybody's own, for notifications. Empty: none, or the person has set a password instead.
    invited_as = models.CharField(max_length=254, blank=True, default="", db_default="")

    class Meta(AbstractUser.Meta):
        constraints = [
            models.CheckConstraint(
                condition=models.Q(role__in=["reader", "engineer", "administrator"]), name="user_role_known"
            )
        ]

    @property
    def may_write(self) -> bool:
        return self.role in (self.Role.ENGINEER, self.Role.ADMINISTRATOR)

    @property
    def is_administrator(self) -> bool:
        return self.role == self.Role.ADMINISTRATOR


class PersonSession(AbstractBaseSession):
    """A browser's session; null `user`: nobody is signed in. `address` and `browser`: of the sign-in."""

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="sessions", null=True)
    started_at = models.DateTimeField()
    last_seen_at = models.DateTimeField()
    address = models.CharField(max_length=45)
    browser = models.CharField(max_length=60)


class ApiToken(models.Model):
    """A user's REST API token: `digest` is the SHA-256 of the secret, `prefix` its first characters.

    It may do what its scope allows and its user's role too. Null `expires_at`: it does not expire.
    """

    class Scope(models.TextChoices):
        """Each includes those before it."""

        READ = "read"
        SUBMIT = "submit"
        REVIEW = "review"

    # What the audit log names its changes as.
    audit_kind: ClassVar[str] = "token"

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="tokens")
    name = models.CharField(max_length=100)
    prefix = models.CharField(max_length=12)
    digest = models.CharField(max_length=64, unique=True)
    created_at = models.DateTimeField(auto_now_add=True)
    last_used_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)
    scope = models.CharField(max_length=8, choices=Scope.choices)
    expires_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(scope__in=["read", "submit", "review"]), name="api_token_scope_known"
            )
        ]

    def allows(self, scope: str) -> bool:
        known = list(self.Scope)
        return known.index(self.Scope(self.scope)) >= known.index(self.Scope(scope))

    def has_expired(self, now: datetime) -> bool:
        return self.expires_at is not None and self.expires_at <= now


class SignInLink(models.Model):
    """A one-time sign-in link."""

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="sign_in_links")
    digest = models.CharField(max_length=64, unique=True)
    expires_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True, blank=True)


class Identity(models.Model):
    """Who a person is at an OpenID Connect provider: `subject` is the provider's own name, which never changes."""

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="identities")
    issuer = models.CharField(max_length=500)
    subject = models.CharField(max_length=255)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["issuer", "subject"], name="identity_once"),
            models.UniqueConstraint(fields=["user", "issuer"], name="identity_one_each"),
        ]


class SharedLink(models.Model):
    """Shows one page to whoever has it, without signing in, until it expires or is withdrawn. `path` and the parameters
    `pinned` (names -> values) are the page's; `view` names what it shows."""

    view = models.CharField(max_length=20)
    path = models.CharField(max_length=500)
    pinned = models.JSONField()
    title = models.CharField(max_length=200)
    digest = models.CharField(max_length=64, unique=True)
    created_by = models.ForeignKey(User, on_delete=models.CASCADE, related_name="shared_links")
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    last_used_at = models.DateTimeField(null=True, blank=True)
    withdrawn_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-id"]
        indexes = [models.Index(fields=["path"], name="shared_link_path")]


class SavedFilter(models.Model):
    """Filters and order of the list of runs that a user applies by name; `query`: of the list's address."""

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="saved_filters")
    name = models.CharField(max_length=60)
    query = models.CharField(max_length=2000)

    class Meta:
        ordering = ["name"]
        constraints = [models.UniqueConstraint(fields=["user", "name"], name="saved_filter_once")]
