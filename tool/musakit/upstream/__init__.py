"""Upstreams: what is pinned, where it comes from, and how it becomes a verified tree in the store."""
