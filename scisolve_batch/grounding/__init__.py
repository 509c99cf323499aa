"""The one rule: every number in an answer is traceable to what a successful cell printed."""
