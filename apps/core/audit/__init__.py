"""The audit log: who changed what, when and from where.

Grain: one row per change by a person, a token, an agent or a command. Samples and batches are not in it. The database
refuses to change or delete rows; `manage.py prune_audit` is the one way to shorten the log.
"""
