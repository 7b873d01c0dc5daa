"""Financial statements as facts: what a document's tables print, and what its inline XBRL tags say."""
