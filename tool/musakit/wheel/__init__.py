"""Wheels from patched trees: built, described, and checked against the trees they come from."""
