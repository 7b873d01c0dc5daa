"""Whether a figure follows from figures of the evidence by a computation."""
