"""Code that several commands share: sessions, options, lists, and the printing of results."""
