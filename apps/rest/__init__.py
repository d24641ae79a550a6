"""The REST API: one folder for a resource, framework for what they share.

No rules of its own: it checks input, calls the doors of the apps, and writes their frozen values as JSON, CSV or Arrow.
"""
