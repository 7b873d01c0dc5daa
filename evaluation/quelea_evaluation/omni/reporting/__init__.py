"""From answers and verdicts to the matrix of values, its comparison, its page; how far judges agree with people."""
