"""Questions of the matrix: what one is, how they are made over the documents, and how people edit them."""
