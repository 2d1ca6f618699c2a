"""Operators' calls from Python: batches of brokerage, cases and what-if, the watchdog."""
