"""Who judges what words and figures cannot."""
