"""What limits each side of a comparison: joins comparisons to the USE method, which know nothing of each other."""
