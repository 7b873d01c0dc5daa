"""The web half of the pipeline: what search brings, and how it joins the local evidence."""
