"""Synthetic grids, workloads and JobAgents: for the demos, the simulation, the benchmarks and the tests."""
