"""What answers say: figures, quotes, refusals."""
