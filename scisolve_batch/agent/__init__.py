"""The loop in which a model solves one problem with two tools."""
