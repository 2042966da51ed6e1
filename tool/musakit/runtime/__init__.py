"""What the patched pair does when it runs, asked of the real code in another interpreter."""
