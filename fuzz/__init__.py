"""Where cases come from and what happens to bad ones."""
