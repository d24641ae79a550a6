"""Interface of this app for other apps."""

from apps.examples.load import Loaded, are_loaded, load
from apps.examples.remove import remove

__all__ = ["Loaded", "are_loaded", "load", "remove"]
