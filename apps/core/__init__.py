"""Shared helpers: units and rounding, canonical JSON, input errors by field, file stores.

No tables and no pages. Code about runs, systems or metrics belongs to other apps.
"""
