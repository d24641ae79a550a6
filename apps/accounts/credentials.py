"""Secrets are shown once; only their SHA-256 is kept. They are random, so no salt and no slow hash is needed."""

import hashlib
import secrets


def new_secret() -> str:
    """32 random bytes, safe in an address."""
    return secrets.token_urlsafe(32)


def digest_of(secret: str) -> str:
    """SHA-256, 64 hexadecimal digits."""
    return hashlib.sha256(secret.encode("utf-8", "surrogateescape")).hexdigest()
