-- A hundred thousand jobs that agents hold, with their leases; and the floor for a change of status: one row updated by
-- its key, one row of history, commit.
drop schema if exists change cascade;
create schema change;
create table change.job (setup text, job_id bigint, status text, modified timestamptz, queue text, gshare text, label text, user_name text, task_id bigint, number bigint,
                         created timestamptz, started timestamptz, primary key (setup, job_id)) with (fillfactor = 70);
insert into change.job select 'bench', g, 'transferring', now(), 'Q' || g % 300, 'S' || g % 10, 'managed', 'u' || g % 50, g / 1000, g % 1000, now(), now() from generate_series(1, 100000) g;
create table change.history (setup text, at timestamptz, number bigint generated always as identity, job_id bigint, from_status text, to_status text, role_name text, why text);
create index on change.history (setup, job_id, at);
create function change.step(p_setup text, p_job_id bigint, p_from text, p_to text) returns void language plpgsql as $$
begin
  update change.job j set status = p_to, modified = now() where j.setup = p_setup and j.job_id = p_job_id;
  insert into change.history (setup, at, job_id, from_status, to_status, role_name, why) values (p_setup, now(), p_job_id, p_from, p_to, session_user, 'floor');
end $$;
delete from workload.job where setup = 'bench';
insert into workload.job (setup, job_id, task_id, number, queue, gshare, resource_type, nucleus, label, user_name, working_group, processing_type, status, priority, cores, created, modified,
                          state_changed, activated, started)
select 'bench', g, g / 1000, g % 1000 + 1, 'Q' || g % 300, 'S' || g % 10, 'MCORE', 'N' || g % 40, 'managed', 'u' || g % 50, 'g' || g % 5, 'simul', 'transferring', 500, 8, now(), now(), now(), now(), now()
  from generate_series(1, 100000) g;
delete from taskqueue.job where setup = 'bench';
delete from taskqueue.lease where setup = 'bench';
insert into taskqueue.lease (setup, job_id, attempt, token, task_queue_id, definition_id, user_priority, state, role_name, matched_at, reported_at, expires_at, brokered)
select 'bench', g, 1, '00000000-0000-0000-0000-000000000000', 0, d.definition_id, 1, 'running', session_user, now(), now(), now() + interval '1 day', true
  from generate_series(1, 100000) g cross join (select min(i.definition_id) as definition_id from taskqueue.definition i where i.setup = 'bench') d;
select workload.correct_counts('bench');
vacuum (analyze) change.job, workload.job, taskqueue.lease
