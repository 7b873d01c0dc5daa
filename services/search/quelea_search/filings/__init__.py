"""Filings from their sources: EDGAR and cninfo, asked through the market-data door."""
