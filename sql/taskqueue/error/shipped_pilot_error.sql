-- Codes of PanDAWMS/pilot3 3.11.5.1, pilot/common/errorcodes.py; the meanings and the
-- classes are pgbroker's own. These codes are as old as the first pilot; shipped_pilot2_error has the others.
create or replace view taskqueue.shipped_pilot_error as
select v.code, v.class, v.meaning
  from (values
    (1008, 'infrastructure', 'the pilot failed, without a closer reason'),
    (1098, 'infrastructure', 'the disk of the worker node is full'),
    (1099, 'infrastructure', 'an input file was not copied to the worker node'),
    (1100, 'input', 'an input file has no replica'),
    (1103, null, 'a file is missing'),
    (1104, 'payload', 'the work directory became too large'),
    (1106, 'payload', 'the log or standard output of the payload became too large'),
    (1110, 'infrastructure', 'the environment of the payload was not set up'),
    (1115, 'infrastructure', 'a lock of SQLite failed on NFS'),
    (1116, 'infrastructure', 'the pilot did not get the description of its queue'),
    (1117, 'infrastructure', 'the description of the queue is not valid'),
    (1124, 'payload', 'an output file is too large'),
    (1133, 'infrastructure', 'no storage is defined for the transfer'),
    (1137, 'infrastructure', 'an output file was not copied to the storage'),
    (1141, 'infrastructure', 'the MD5 sum of a stored output file is wrong'),
    (1143, 'infrastructure', 'the transform was not made executable'),
    (1144, null, 'the server of PanDA killed the job'),
    (1145, 'input', 'the MD5 sum of an input file is wrong'),
    (1149, 'infrastructure', 'the transform was not downloaded'),
    (1150, 'time', 'the payload wrote nothing for too long and was killed as looping'),
    (1151, 'infrastructure', 'copying input files took too long'),
    (1152, 'infrastructure', 'copying output files took too long'),
    (1163, 'infrastructure', 'the grid proxy is not valid'),
    (1165, 'payload', 'the payload did not write an output file'),
    (1168, 'input', 'the input files together are too large'),
    (1171, 'input', 'the Adler-32 sum of an input file is wrong'),
    (1172, 'infrastructure', 'the Adler-32 sum of a stored output file is wrong'),
    (1177, 'infrastructure', 'the VOMS proxy is not valid'),
    (1180, 'infrastructure', 'Globus failed while input files were copied'),
    (1181, 'infrastructure', 'Globus failed while output files were copied'),
    (1186, 'infrastructure', 'the software directory is missing'),
    (1187, 'payload', 'the payload left no metadata'),
    (1190, 'payload', 'the name of a file is too long'),
    (1191, 'payload', 'a file is empty'),
    (1199, 'infrastructure', 'a directory was not made'),
    (1200, 'lost', 'an unknown signal ended the job'),
    (1201, 'lost', 'SIGTERM of the batch system ended the job'),
    (1202, 'lost', 'SIGQUIT ended the job'),
    (1203, 'lost', 'SIGSEGV ended the pilot'),
    (1204, 'time', 'SIGXCPU ended the job: its CPU time is used up'),
    (1205, null, 'the user killed the job'),
    (1206, 'lost', 'SIGBUS ended the pilot'),
    (1207, 'lost', 'SIGUSR1 ended the job'),
    (1208, 'lost', 'SIGINT ended the job'),
    (1211, 'infrastructure', 'the software is not installed'),
    (1212, 'memory', 'the payload ran out of memory'),
    (1213, 'time', 'the time limit of the batch system was reached'),
    (1220, 'payload', 'the payload failed for an unknown reason'),
    (1221, 'infrastructure', 'an output file is on the storage already'),
    (1223, 'memory', 'the payload was refused memory (bad_alloc)'),
    (1224, null, 'event service: some events may be tried again'),
    (1228, null, 'event service: the failure is final'),
    (1234, null, 'another clone of the job has run'),
    (1235, 'memory', 'the payload used more memory than allowed'),
    (1236, null, 'the server of PanDA failed the job'),
    (1238, null, 'event service: no events were left'),
    (1240, 'infrastructure', 'a message of the payload was not understood'),
    (1242, 'infrastructure', 'the storage gives no checksums'),
    (1244, 'infrastructure', 'no fitting release was found'),
    (1246, 'infrastructure', 'the archive with the user''s code was not downloaded'),
    (1247, 'payload', 'an XML file is malformed')
  ) v (code, class, meaning);

comment on view taskqueue.shipped_pilot_error is
  'Codes of PanDA''s pilot below 1300 (pilotErrorCode), with their classes and meanings; taskqueue.shipped_error has '
  'all sources.';
comment on column taskqueue.shipped_pilot_error.code is 'Error code of the pilot.';
comment on column taskqueue.shipped_pilot_error.class is 'Class; null if the code alone does not tell.';
comment on column taskqueue.shipped_pilot_error.meaning is 'Meaning of the code.';
