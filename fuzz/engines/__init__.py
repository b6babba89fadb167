"""Engines: compilers that run a Case, one file each."""
