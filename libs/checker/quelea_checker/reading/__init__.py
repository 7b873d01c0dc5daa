"""Text and evidence into facts: sentences, amounts, periods, tables, units."""
