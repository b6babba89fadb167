"""Hypothesis strategies for Kina programs and their inputs; the only place with hypothesis."""
