"""Notifications: what happened to findings, told by e-mail and webhook to who subscribed."""
