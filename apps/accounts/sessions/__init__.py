"""Sessions of people: kept with who, when and where, listed and ended."""
