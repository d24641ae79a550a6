"""`make run` and `make test`: set-up and supervision with nothing but Python's standard library.

Nothing here may import Django or any package of the lock: it runs before the environment exists.
"""
