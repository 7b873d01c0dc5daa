"""The gate fitted to an encoder and to documents, with how far its probabilities can be believed."""
