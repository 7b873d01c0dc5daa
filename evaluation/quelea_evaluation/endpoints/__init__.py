"""Those who are asked: models behind OpenAI-shaped addresses, and gateways; many calls at once, within bounds."""
