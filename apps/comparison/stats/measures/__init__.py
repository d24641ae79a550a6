"""What one run shows, computed from its series and counters. Pure."""
