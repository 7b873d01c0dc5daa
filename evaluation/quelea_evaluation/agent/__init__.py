"""Questions for the agent on public companies: asked, checked, judged, reported."""
