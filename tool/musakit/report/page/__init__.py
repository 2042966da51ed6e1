"""Reports as one HTML file each: nothing is loaded from elsewhere, and nothing that they quote can act."""
