"""Carries a target to other pins: replayed, decided upon where a person is needed, and written as a new target."""
