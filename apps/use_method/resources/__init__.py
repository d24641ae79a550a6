"""The resources of the panel, one module each: RESOURCE declares it, with its rules. Pure."""
