"""A target as a whole: its upstreams fetched, patched, built and verified."""
