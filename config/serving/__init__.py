"""How the web process takes requests: bodies are read by an event loop, within limits, before a thread is given.

A thread for each slow sender or reader would let a handful of idle connections stop the server for everybody
(docs/why/serving.md).
"""
