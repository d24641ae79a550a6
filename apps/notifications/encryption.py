"""A column whose text only who has the server's secret key can read: not who copies the database or a backup."""

from base64 import urlsafe_b64encode
from functools import cache
from typing import Any

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from django.conf import settings
from django.db import models

# In place of what another key encrypted; neither an address nor a secret that anybody may have chosen.
UNREADABLE = "(cannot be read: SPLASHBOARD_SECRET_KEY has changed; enter it again)"


class EncryptedTextField(models.TextField):  # type: ignore[type-arg]  # of Django's stubs alone
    """Fernet (AES-128 in CBC with HMAC-SHA256), its key derived from SECRET_KEY by HKDF; SECRET_KEY_FALLBACKS still
    read. An empty text stays empty, so that constraints can ask for one. Not to be filtered by: equal texts differ."""

    def from_db_value(self, value: str | None, *_: Any) -> str | None:
        if not value:
            return value
        try:
            return _keys(settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS).decrypt(value).decode()
        except InvalidToken:
            return UNREADABLE

    def get_prep_value(self, value: Any) -> Any:
        prepared = super().get_prep_value(value)
        return _keys(settings.SECRET_KEY).encrypt(prepared.encode()).decode() if prepared else prepared


@cache
def _keys(*secrets: str) -> MultiFernet:
    """The first encrypts, all decrypt."""
    return MultiFernet([Fernet(_derived(secret)) for secret in secrets])


def _derived(secret: str) -> bytes:
    hkdf = HKDF(SHA256(), length=32, salt=None, info=b"splashboard: encrypted columns")
    return urlsafe_b64encode(hkdf.derive(secret.encode()))
