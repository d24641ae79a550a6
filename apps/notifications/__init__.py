"""Messages about findings: teams, subscriptions, deliveries by e-mail and webhook.

Grain: one delivery to one recipient. What happened is read from the notes of regressions; nothing is decided here.
"""
