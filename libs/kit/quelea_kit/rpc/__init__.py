"""What client and server are made of: channels, errors and traces over the wire."""
