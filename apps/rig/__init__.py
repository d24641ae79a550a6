"""Data for an installation that has none of its own: the example study, and a synthetic warehouse.

The synthetic warehouse tests an installation at its expected size. Grain: one synthetic run, written by COPY from
recorded seconds. Examples were measured. Both are labelled everywhere, and removable with one command.
"""
