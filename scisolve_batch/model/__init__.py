"""Models: something that is asked and replies."""
