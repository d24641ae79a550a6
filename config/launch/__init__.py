"""`make run` and `make test`: set-up and supervision with Python's standard library only.

Nothing here may import Django or any locked package: it runs before the environment exists.
"""
