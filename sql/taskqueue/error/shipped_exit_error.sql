-- Sources: for exe, the exit codes of the transforms of ATLAS (Tools/PyJobTransforms/python/trfExitCodes.py of Athena,
-- rolandjansky/athena 37af8d63, with the older codes that its comment lists); for payload, the exit codes of a shell
-- (128 + signal) and of Python's subprocess (- signal). The meanings and the classes are pgbroker's own. SIGKILL and
-- SIGTERM have no class: a node without memory sends them, but a batch system at a time limit and an operator as well.
create or replace view taskqueue.shipped_exit_error as
select v.source, v.code_from, v.code_to, v.class, v.meaning
  from (values
    ('exe', 1, 2, 'payload', 'the transform ended with an error'),
    ('exe', 3, 3, 'infrastructure', 'the transform was not set up'),
    ('exe', 4, 8, 'payload', 'an argument of the transform is wrong, or the transform crashed'),
    ('exe', 9, 9, 'input', 'an input file of the transform is broken'),
    ('exe', 10, 32, 'payload', 'the transform ended with an error'),
    ('exe', 33, 33, 'infrastructure', 'the environment of the transform is wrong'),
    ('exe', 34, 38, 'payload', 'the transform ended with an error'),
    ('exe', 39, 39, 'infrastructure', 'the DBRelease was not set up'),
    ('exe', 40, 49, 'payload', 'the transform ended with an error'),
    ('exe', 50, 51, 'infrastructure', 'a database, or its DBRelease, failed'),
    ('exe', 52, 59, 'payload', 'the transform did not merge its output'),
    ('exe', 60, 60, 'time', 'the transform exceeded a limit of time or memory'),
    ('exe', 61, 66, 'payload', 'a step of the transform failed'),
    ('exe', 67, 67, 'time', 'a step of the transform took too long'),
    ('exe', 68, 68, 'payload', 'the log of a step of the transform has errors'),
    ('exe', 69, 70, 'infrastructure', 'a step of the transform was not set up'),
    ('exe', 71, 71, 'payload', 'the log of a step of the transform was not read'),
    ('exe', 72, 72, 'infrastructure', 'AMI did not give the tag'),
    ('exe', 73, 73, 'payload', 'the arguments of a step of the transform are wrong'),
    ('exe', 74, 74, 'input', 'an input file of the transform is not valid'),
    ('exe', 75, 78, 'payload', 'an output file of the transform is not valid'),
    ('exe', 79, 79, 'infrastructure', 'an input file of the transform was not copied'),
    ('exe', 80, 97, 'payload', 'the transform ended with an error'),
    ('exe', 98, 98, 'infrastructure', 'the database has too many sessions'),
    ('exe', 99, 103, 'payload', 'the transform ended with an error, or an output file is missing'),
    ('exe', 104, 104, 'infrastructure', 'an output file of the transform was not copied'),
    ('exe', 105, 125, 'payload', 'the transform ended with an error'),
    ('exe', 126, 127, 'infrastructure', 'the transform is not installed, or not executable'),
    ('exe', 141, 141, 'input', 'no input file is available'),
    ('exe', 193, 199, 'payload', 'the transform ended with an error'),
    ('exe', 200, 200, 'infrastructure', 'the log file was not copied'),
    ('exe', 201, 221, 'payload', 'the transform ended with an error'),
    ('exe', 222, 223, 'input', 'input files were not opened, or not read to their end'),
    ('exe', 224, 255, 'payload', 'the transform ended with an error'),
    ('payload', 1, 125, 'payload', 'the program ended with an error'),
    ('payload', 126, 126, null, 'the program is not executable'),
    ('payload', 127, 127, null, 'the program was not found: a wrong name, or software that is not installed'),
    ('payload', 141, 141, 'payload', 'SIGPIPE ended the program: a reader of its output is gone'),
    ('payload', 193, 255, 'payload', 'the program ended with an error')
  ) v (source, code_from, code_to, class, meaning)
union all
select s.source, c.code, c.code, v.class, v.meaning
  from (values ('exe'), ('payload')) s (source)
 cross join (values
    (1, null, 'SIGHUP ended the program'),
    (2, null, 'SIGINT ended the program'),
    (3, null, 'SIGQUIT ended the program'),
    (4, 'infrastructure', 'SIGILL ended the program: the CPU lacks an instruction'),
    (6, 'payload', 'SIGABRT ended the program: it gave up'),
    (7, 'infrastructure', 'SIGBUS ended the program: a mapped file was not read'),
    (8, 'payload', 'SIGFPE ended the program: arithmetic'),
    (9, null, 'SIGKILL ended the program: the node lacks memory, a limit was reached, or somebody killed it'),
    (11, 'payload', 'SIGSEGV ended the program: segmentation fault'),
    (15, null, 'SIGTERM ended the program: a limit was reached, or somebody ended it'),
    (24, 'time', 'SIGXCPU ended the program: its CPU time is used up'),
    (25, 'payload', 'SIGXFSZ ended the program: a file became too large')
  ) v (signal, class, meaning)
 cross join lateral (values (128 + v.signal), (-v.signal)) c (code);

comment on view taskqueue.shipped_exit_error is
  'Exit codes of programs with their classes and meanings: exe for PanDA''s exeErrorCode, payload for any program; '
  'taskqueue.shipped_error has all sources.';
comment on column taskqueue.shipped_exit_error.source is 'exe or payload.';
comment on column taskqueue.shipped_exit_error.code_from is 'First code.';
comment on column taskqueue.shipped_exit_error.code_to is 'Last code.';
comment on column taskqueue.shipped_exit_error.class is 'Class; null if the code alone does not tell.';
comment on column taskqueue.shipped_exit_error.meaning is 'Meaning of these codes.';
