"""Answers and runs as files: DOCX, PDF, notebooks."""
