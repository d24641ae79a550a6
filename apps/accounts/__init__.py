"""Users, their roles, API tokens and one-time sign-in links.

Grain: one row per user, token and link. Only digests of secrets are stored. Permissions of pages and endpoints are
in web and rest; tokens of agents are in dispatch.
"""
