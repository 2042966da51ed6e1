"""A series on every release of its upstream: what each will cost."""
