"""A made-up warehouse at scale, to try an installation at the size it will grow to.

Grain: one made run, written by COPY from recorded seconds. Marked as made up everywhere; removable with one command.
"""
