"""What a conclusion may rest on, and where the figures of code come from."""
