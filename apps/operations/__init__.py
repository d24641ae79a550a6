"""Operating an installation: backups and their restoring.

Grain: one backup. Reads every app and is read by pages and the API alone.
"""
