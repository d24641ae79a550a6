"""The failover probe: a steady stream of small writes, a fault in the middle, and what became of every write.

docs/reference/failover.md defines each phase and each count.
"""
