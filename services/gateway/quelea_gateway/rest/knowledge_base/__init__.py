"""Routes of the knowledge base: documents and web pages, how they come in and how they are shown."""
