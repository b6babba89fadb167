"""How a case is made smaller: the passes of the minimiser (`passes`), and the rewriting of trees that they share."""
