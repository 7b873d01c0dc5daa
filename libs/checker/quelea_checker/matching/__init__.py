"""Which facts are near to a figure of the answer: size, unit, sign and the words about it."""
