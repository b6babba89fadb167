"""Measurements of what the project promises, with the figures in their output. Nothing imports this but tests."""
