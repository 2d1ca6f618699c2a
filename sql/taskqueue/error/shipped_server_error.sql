-- Sources of the codes: PanDAWMS/panda-server 9cc36033, ErrorCode.py of pandaserver/dataservice (ddm),
-- pandaserver/jobdispatcher and pandaserver/taskbuffer; and of pandaserver/brokerage in 71156bb9, the last commit that
-- has this file. The meanings and the classes are pgbroker's own.
create or replace view taskqueue.shipped_server_error as
select v.source, v.code, v.class, v.meaning
  from (values
    ('ddm', 100, 'infrastructure', 'the datasets of the job were not prepared'),
    ('ddm', 101, 'input', 'an input file is not in the catalogue'),
    ('ddm', 200, 'infrastructure', 'the output files were not registered'),
    ('ddm', 201, 'infrastructure', 'the transfer of the output was not requested'),
    ('ddm', 203, 'infrastructure', 'the place of the output was not registered'),
    ('ddm', 204, 'payload', 'the number of events of an output file is missing'),
    ('ddm', 205, 'payload', 'the GUID of an output file does not fit'),
    ('ddm', 206, 'infrastructure', 'the storage (RSE) is configured wrongly'),
    ('jobdispatcher', 100, 'lost', 'the heartbeat was lost'),
    ('jobdispatcher', 101, 'lost', 'the job was not recovered'),
    ('jobdispatcher', 102, 'lost', 'the pilot did not answer after it got the job'),
    ('jobdispatcher', 103, 'lost', 'the job was holding for too long'),
    ('jobdispatcher', 104, 'infrastructure', 'the output was transferring for too long'),
    ('jobdispatcher', 105, 'lost', 'nothing was heard of the job for too long'),
    ('taskbuffer', 100, null, 'the job was killed'),
    ('taskbuffer', 101, 'infrastructure', 'the transfer took too long'),
    ('taskbuffer', 102, null, 'the job waited too long and expired'),
    ('taskbuffer', 103, null, 'the job was aborted'),
    ('taskbuffer', 105, null, 'the job was brokered again'),
    ('taskbuffer', 106, null, 'the server tried the job again'),
    ('taskbuffer', 107, null, 'the pilot tried the job again'),
    ('taskbuffer', 111, null, 'event service: the job is tried again'),
    ('taskbuffer', 112, null, 'event service: the outputs are merged'),
    ('taskbuffer', 113, 'payload', 'event service: the merge failed'),
    ('taskbuffer', 114, null, 'event service: all attempts are used up'),
    ('taskbuffer', 115, null, 'event service: other consumers still run'),
    ('taskbuffer', 116, null, 'event service: the job is no longer needed'),
    ('taskbuffer', 117, null, 'event service: the node processed no event'),
    ('taskbuffer', 118, null, 'event service: the node of the last consumer processed no event'),
    ('taskbuffer', 119, 'payload', 'event service: all events failed'),
    ('taskbuffer', 120, null, 'event service: another consumer began the merge'),
    ('taskbuffer', 121, null, 'event service: another consumer failed'),
    ('taskbuffer', 122, 'lost', 'event service: the job was preempted'),
    ('taskbuffer', 123, null, 'event service: the job is tried again; the node processed no event'),
    ('taskbuffer', 124, 'input', 'event service: the input files are not those of the task'),
    ('taskbuffer', 125, 'infrastructure', 'event service: no queue is left for more consumers'),
    ('taskbuffer', 126, null, 'event service: the job was closed in a wrong status'),
    ('taskbuffer', 130, null, 'fast rebrokerage: the queue was overloaded'),
    ('taskbuffer', 200, null, 'another clone of the job has the lock'),
    ('taskbuffer', 300, 'lost', 'the worker ended before its job'),
    ('brokerage', 100, 'infrastructure', 'no site has the release'),
    ('brokerage', 101, 'infrastructure', 'VOMS refused the user')
  ) v (source, code, class, meaning);

comment on view taskqueue.shipped_server_error is
  'Codes of PanDA''s server (ddmErrorCode, jobDispatcherErrorCode, taskBufferErrorCode, brokerageErrorCode), with '
  'their classes and meanings; taskqueue.shipped_error has all sources.';
comment on column taskqueue.shipped_server_error.source is 'Component of the server.';
comment on column taskqueue.shipped_server_error.code is 'Error code of this component.';
comment on column taskqueue.shipped_server_error.class is 'Class; null if the code alone does not tell.';
comment on column taskqueue.shipped_server_error.meaning is 'Meaning of the code.';
