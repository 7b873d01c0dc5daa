"""Query-passage pairs from documents: made, filtered, split, reviewed."""
