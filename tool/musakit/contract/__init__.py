"""What the patched pair must do, asked of the sources without importing them."""
