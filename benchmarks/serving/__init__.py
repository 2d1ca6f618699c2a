"""Agents that ask the service over HTTP, in a process of their own, and what is looked up afterwards."""
