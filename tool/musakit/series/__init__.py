"""Patch series: reading patches, applying them strictly, recording the result, and writing them back."""
