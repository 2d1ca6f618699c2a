"""What operators do from Python: batches of brokerage, cases and what-if, the watchdog."""
