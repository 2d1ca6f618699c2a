-- Tables that the scripts need besides pgbroker: requests and jobs to insert, picked by number, and ids of new jobs.
-- They are filled once and never changed during a run. Their pages are full, so a look-up reads three or four pages.
drop schema if exists bench cascade;
create schema bench;
create table bench.request (n int primary key with (fillfactor = 100), resource jsonb not null) with (fillfactor = 100);
create table bench.template (n int primary key with (fillfactor = 100), requirements jsonb not null, user_priority int not null) with (fillfactor = 100);
create unlogged table bench.draw (n int not null, job_id bigint not null);
create table bench.ending (n bigint primary key, job_id bigint not null, attempt text not null, outcome text not null, error jsonb, used jsonb);
create sequence bench.job_id cache 100;
-- An empty change of a job's TaskQueue makes its hand void, so that the next draw there does not see the same cards.
create function bench.void_hand(p_job_id bigint) returns void language sql security definer as $$
  insert into taskqueue.job_count_change (setup, task_queue_id, user_priority, change)
  select j.setup, j.task_queue_id, 0, 0 from taskqueue.job j where j.setup = 'bench' and j.job_id = p_job_id
$$;
