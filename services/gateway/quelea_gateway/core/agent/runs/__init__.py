"""Runs side by side: asked for, queued, watched, stored, ended."""
