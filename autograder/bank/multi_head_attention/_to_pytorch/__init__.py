"""Other right ways to PyTorch's layer."""
