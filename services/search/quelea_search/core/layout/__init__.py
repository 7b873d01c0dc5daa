"""From printed lines to pages of paragraphs, headings and tables."""
