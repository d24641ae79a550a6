"""What pages use of the REST API: the fields that write dataclasses as JSON."""

from apps.rest.framework.derive import field_of

__all__ = ["field_of"]
