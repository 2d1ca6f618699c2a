"""What several commands share: sessions, options, lists, and how results are printed."""
