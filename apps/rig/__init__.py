"""A synthetic warehouse for testing an installation at its expected size.

Grain: one synthetic run, written by COPY from recorded seconds. Labelled as synthetic everywhere; removable with one
command.
"""
