"""The example study: measured on the lab, shipped as archives, restored into a new installation, removable.

Grain: one part of the study, an archive in `data/`. Its runs are labelled as examples everywhere.
"""
