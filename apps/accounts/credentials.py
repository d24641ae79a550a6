"""Random secrets, stored only as SHA-256 digests. Random input needs neither a salt nor a slow hash."""

import hashlib
import secrets


def new_secret() -> str:
    """32 random bytes as URL-safe text, of which the first is no hyphen: programs would take it for an option."""
    while (secret := secrets.token_urlsafe(32)).startswith("-"):
        pass
    return secret


def digest_of(secret: str) -> str:
    """SHA-256, 64 hexadecimal digits."""
    return hashlib.sha256(secret.encode("utf-8", "surrogateescape")).hexdigest()
