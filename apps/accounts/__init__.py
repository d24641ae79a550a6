"""People: users, their roles, API tokens, and links that sign in once.

Grain: one user, one token. Only digests of secrets are stored. Who may do what on a page or an endpoint is decided in
web and rest; agents have tokens of their own, in dispatch.
"""
