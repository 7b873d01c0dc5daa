"""OmniEval (2412.13018): topics × tasks."""
