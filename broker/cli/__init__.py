"""The command line: `broker`. Each module of this package holds the commands of one subject; program.py joins them."""
