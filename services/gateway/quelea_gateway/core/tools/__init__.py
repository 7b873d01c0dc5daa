"""The catalogue of tools: what is indexed of a tool, how one is found and chosen, how it is described to a model."""
