-- Source of the texts: DIRACGrid/DIRAC v9.0.0a31 (b5bc25cb), src/DIRAC/WorkloadManagementSystem:
-- Client/JobMinorStatus.py, JobWrapper/Watchdog.py, Agent/StalledJobAgent.py, Agent/JobAgent.py, DB/JobDB.py and
-- Service/JobStateUpdateHandler.py. The meanings and the classes are pgbroker's own. The text with a % has a number
-- there.
create or replace view taskqueue.shipped_dirac_error as
select v.text, v.class, v.meaning
  from (values
    ('Application not found', 'payload', 'the executable of the job does not exist'),
    ('Application thread failed', 'infrastructure', 'the JobWrapper did not start the application'),
    ('Application thread did not complete', 'infrastructure', 'the JobWrapper got no end of the application'),
    ('Application Finished With Errors', 'payload', 'the application ended with an error'),
    ('Payload failed', 'payload', 'the application ended with an error'),
    ('Exception During Execution', 'infrastructure', 'the JobWrapper raised an exception'),
    ('Could Not Extract JDL Parameters', 'infrastructure', 'the JobAgent did not read the description of the job'),
    ('Illegal Job JDL', 'payload', 'the description of the job is not valid'),
    ('No candidate sites available', 'input', 'no site has all input data'),
    ('Staging input files failed', 'input', 'input files were not staged from tape'),
    ('Job Initialization', 'infrastructure', 'the job ended before it was set up'),
    ('Job Wrapper Initialization', 'infrastructure', 'the JobWrapper was not set up'),
    ('JobWrapper execution', 'infrastructure', 'the JobWrapper did not run'),
    ('Downloading InputSandbox', 'infrastructure', 'the input sandbox was not downloaded'),
    ('Failed Downloading InputSandbox', 'infrastructure', 'the input sandbox was not downloaded'),
    ('Downloading InputSandbox LFN(s)', 'input', 'a file of the sandbox was not downloaded from a storage'),
    ('Failed Downloading InputSandbox LFN(s)', 'input', 'a file of the sandbox was not downloaded from a storage'),
    ('Input Data Resolution', 'input', 'the input data were not found or not downloaded'),
    ('Input Data Not Available', 'input', 'the input data are not available'),
    ('Resolving Output Sandbox', 'infrastructure', 'the output sandbox was not collected'),
    ('Uploading Output Sandbox', 'infrastructure', 'the output sandbox was not uploaded'),
    ('Uploading Output Data', 'infrastructure', 'the output data were not uploaded'),
    ('Uploading Outputs', 'infrastructure', 'the outputs were not uploaded'),
    ('Failed sending requests', 'infrastructure', 'the requests of the job were not stored'),
    ('Pending Requests', null, 'requests of the job are still pending'),
    ('Job has reached the CPU limit of the queue', 'time', 'the CPU time of the queue is used up'),
    ('Job has exceeded maximum CPU time limit', 'time', 'the job used more CPU time than it required'),
    ('Job has exceeded maximum wall clock time', 'time', 'the job ran too long'),
    ('Watchdog identified this job as stalled', 'time', 'the job used hardly any CPU for too long'),
    ('Job has insufficient disk space to continue', 'infrastructure', 'the disk of the worker node is full'),
    ('Job exceeded maximum load average', 'infrastructure', 'the load of the worker node is too high'),
    ('Job stalled: pilot not running', 'lost', 'the pilot of the job is gone'),
    ('Stalling for more than % sec', 'lost', 'the job sent no sign of life for too long'),
    ('Maximum of reschedulings reached', null, 'the job was rescheduled too often'),
    ('Going to reschedule job', null, 'the application asked to be rescheduled'),
    ('Job Rescheduled', null, 'the job was rescheduled'),
    ('Received Kill signal', null, 'the job was killed'),
    ('Marked for termination', null, 'the job was to be killed')
  ) v (text, class, meaning);

comment on view taskqueue.shipped_dirac_error is
  'Texts of DIRAC (MinorStatus of failed jobs), with their classes and meanings; taskqueue.shipped_error has all '
  'sources.';
comment on column taskqueue.shipped_dirac_error.text is 'Text as a pattern of LIKE: a % is any text.';
comment on column taskqueue.shipped_dirac_error.class is 'Class; null if the text alone does not tell.';
comment on column taskqueue.shipped_dirac_error.meaning is 'Meaning of the text.';
