"""A series on another tree than its own, with a verdict for each patch and hunk."""
