"""The only layer that runs git, always in a sealed environment."""
