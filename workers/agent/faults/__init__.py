"""The failover probe: a steady stream of small writes, a fault in the middle, and the outcome of every write.

docs/reference/failover.md defines each phase and each count.
"""
