-- Sources of the codes: PanDAWMS/panda-server 9cc36033, pandaserver/taskbuffer/SupErrors.py, and HSF/harvester
-- 13b2b44a, pandaharvester/harvestercore/worker_errors.py. The meanings and the classes are pgbroker's own.
create or replace view taskqueue.shipped_worker_error as
select v.code_from, v.code_to, v.class, v.meaning
  from (values
    (1, 1, null, 'the id of the batch job is not valid'),
    (2, 2, 'lost', 'the worker ended before its job'),
    (1000, 1000, null, 'the worker failed for an unknown reason'),
    (1001, 1001, 'lost', 'the worker was preempted'),
    (2001, 2001, 'infrastructure', 'the wrapper of the pilot failed'),
    (2002, 2002, 'lost', 'the wrapper killed a pilot that was stuck'),
    (2064, 2064, 'infrastructure', 'the wrapper found a broken CVMFS'),
    (2080, 2080, 'infrastructure', 'the proxy of the pilot is not valid long enough'),
    (3121, 3190, 'infrastructure', 'the grid manager of HTCondor failed'),
    (3200, 3200, 'infrastructure', 'the schedd of HTCondor was not reached'),
    (3601, 3601, 'infrastructure', 'HTCondor did not send the output files'),
    (3631, 3639, 'infrastructure', 'HTCondor did not get the input files'),
    (3641, 3649, 'infrastructure', 'HTCondor did not store the output files'),
    (3681, 3681, 'infrastructure', 'a transfer of HTCondor failed'),
    (3811, 3812, 'lost', 'HTCondor does not know the worker'),
    (3831, 3831, 'payload', 'the program of the worker ended with an error'),
    (3841, 3842, 'lost', 'HTCondor gives no valid exit code of the worker'),
    (4101, 4101, 'lost', 'the worker disappeared from the remote schedd'),
    (4102, 4104, 'infrastructure', 'the remote schedd was not reached, or did not send files'),
    (4201, 4201, 'infrastructure', 'the node failed'),
    (4211, 4211, 'memory', 'the batch system killed the worker: memory'),
    (4214, 4214, 'time', 'the batch system killed the worker: CPU time'),
    (4215, 4215, 'time', 'the batch system killed the worker: wall time'),
    (4219, 4219, 'lost', 'the batch system killed the worker'),
    (4220, 4220, 'lost', 'the batch system does not know the worker'),
    (4241, 4244, null, 'the worker failed in the batch system'),
    (4245, 4245, 'lost', 'the batch system lost the worker'),
    (4247, 4249, 'lost', 'the batch system ended the worker'),
    (4260, 4261, 'lost', 'the batch system removed the worker'),
    (4290, 4290, 'infrastructure', 'the batch system failed'),
    (4311, 4319, 'infrastructure', 'a command of the ARC CE took too long'),
    (4351, 4351, 'infrastructure', 'the ARC CE did not submit the worker'),
    (4352, 4352, null, 'a request cancelled the worker at the ARC CE'),
    (4353, 4364, 'infrastructure', 'the ARC CE failed, or refused the worker'),
    (4390, 4391, 'infrastructure', 'the ARC CE failed'),
    (5511, 5519, 'infrastructure', 'the batch system has too many jobs'),
    (5520, 5520, 'time', 'the worker ran longer than the batch system allows'),
    (5530, 5531, 'memory', 'the worker used more memory than its slot has'),
    (5541, 5549, 'infrastructure', 'the slot of the worker failed'),
    (5571, 5572, 'infrastructure', 'the site stopped the worker'),
    (5601, 5699, 'infrastructure', 'Slurm did not take the worker'),
    (6801, 6801, null, 'Kubernetes tried the worker too often'),
    (6810, 6814, 'infrastructure', 'Kubernetes refused the pod'),
    (6815, 6815, 'time', 'the pod ran longer than its deadline'),
    (6819, 6819, 'lost', 'Kubernetes ended the pod'),
    (6881, 6883, 'lost', 'Kubernetes does not tell the state of the worker'),
    (6884, 6884, null, 'Kubernetes ended the container'),
    (8970, 8971, null, 'somebody removed the worker'),
    (8981, 8991, 'lost', 'HTCondor removed the worker'),
    (9000, 9000, null, 'the worker failed')
  ) v (code_from, code_to, class, meaning);

comment on view taskqueue.shipped_worker_error is
  'Codes of workers, set by PanDA''s server and Harvester (supErrorCode), with their classes and meanings; '
  'taskqueue.shipped_error has all sources.';
comment on column taskqueue.shipped_worker_error.code_from is 'First code.';
comment on column taskqueue.shipped_worker_error.code_to is 'Last code.';
comment on column taskqueue.shipped_worker_error.class is 'Class; null if the code alone does not tell.';
comment on column taskqueue.shipped_worker_error.meaning is 'Meaning of these codes.';
