"""Runs model-written code in processes that hold no key, no transcript and no checker."""
