"""The resources of the panel, a module each: RESOURCE declares it, its rules stand beside it. Pure."""
