"""The retriever's second stage: its candidates, the fit of its weights, what they are worth on sets left out."""
