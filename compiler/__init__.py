"""The Kina compiler: text to types to MLIR to machine code. Knows nothing of fuzzing."""
