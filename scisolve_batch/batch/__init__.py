"""Many problems at once, each accounted for."""
