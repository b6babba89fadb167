"""What the right answer is, twice, and whether two engines agree on it."""
