"""Clients for programs: a JobAgent asks for jobs, a submitter inserts them. Each has a synchronous and an asynchronous
form."""

from broker.client.matcher import AsyncJobAgent, JobAgent
from broker.client.submitter import AsyncSubmitter, Submitter

__all__ = ["AsyncJobAgent", "AsyncSubmitter", "JobAgent", "Submitter"]
