"""The REST API: one folder per resource; `framework` holds what they share.

No rules of its own: it validates input, calls the public interfaces of the apps, and writes their frozen values as
JSON, CSV or Arrow.
"""
