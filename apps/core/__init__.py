"""What every app needs and no app owns: units and rounding of numbers, canonical forms, refusals by field, file stores.

No tables and no pages. Anything that knows a run, a system or a metric belongs to another app.
"""
