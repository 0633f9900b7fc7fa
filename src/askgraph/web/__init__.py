"""The page on which people label, and the server behind it."""
