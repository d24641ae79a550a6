"""Notifications about findings: teams, subscriptions, deliveries by e-mail and webhook.

Grain: one delivery to one recipient. Events come from the notes of regressions; this app judges nothing.
"""
