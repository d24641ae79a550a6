"""Interface of this app for other apps."""

from apps.rig.examples.load import are_loaded as are_examples_loaded
from apps.rig.examples.load import restoring as restoring_examples
from apps.rig.examples.remove import remove as remove_examples

__all__ = ["are_examples_loaded", "remove_examples", "restoring_examples"]
