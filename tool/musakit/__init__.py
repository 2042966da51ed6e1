"""musakit: a patch series on pinned upstreams, wheels from it, and the proof that both are right."""

__version__ = "0.1.0.dev0"
