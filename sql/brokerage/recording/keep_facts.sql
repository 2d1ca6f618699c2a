-- Most columns of queues stay the same all day, so each value is stored once per day.
create or replace function brokerage.keep_facts(
  p_run brokerage.run, p_part bigint, p_rules brokerage.profile_rule[], p_subjects brokerage.facts_by_subject,
  p_tasks brokerage.task_facts[], p_queues brokerage.queue_facts[]
) returns void
language plpgsql as $$
declare
  v_rules jsonb := (select jsonb_agg(to_jsonb(r) order by r.profile, r.position, r.rule)
                      from unnest(p_rules) r
                     where r.algorithm = p_run.algorithm);
  v_schemas text[] := array(  -- schemas whose functions decide
    select 'brokerage' union select 'resource' union select 'workload'
    union select split_part(r.function, '.', 1) from unnest(p_rules) r where r.function is not null);
  v_program text := brokerage.program_digest(v_schemas);
  v_subjects jsonb := jsonb_build_object('base_profile', p_subjects.base_profile);
  v_queues jsonb;
  v_day timestamptz := date_trunc('day', p_run.started_at, 'utc');
  v_name text;
  v_value jsonb;
begin
  for v_name in
    select a.attname from pg_attribute a
     where a.attrelid = 'brokerage.facts_by_subject'::regclass and a.attnum > 0 and not a.attisdropped
       and a.attname <> 'base_profile'
  loop
    execute format('select brokerage.to_columns(($1).%I)', v_name) into v_value using p_subjects;
    v_subjects := v_subjects || jsonb_build_object(v_name, v_value);
  end loop;
  with list as materialized (
    select c.key as name, c.value, md5(c.value::text) as digest from jsonb_each(brokerage.to_columns(p_queues)) c
  -- the value is not unique: two simultaneous runs would wait for each other, and a duplicate does no harm
  ), noted as (
    insert into brokerage.recorded_value (setup, noted_at, digest, value)
    select p_run.setup, v_day, n.digest,
           case when n.digest = v_program then brokerage.program_of(v_schemas) else n.value end
      from (select distinct on (n.digest) n.digest, n.value
              from (select l.digest, l.value from list l
                    union all
                    select md5(v_rules::text), v_rules
                    union all
                    select v_program, null) n(digest, value)) n
     where not exists (select from brokerage.recorded_value v
                        where v.setup = p_run.setup and v.noted_at = v_day and v.digest = n.digest)
  )
  select jsonb_object_agg(l.name, l.digest) into v_queues from list l;
  insert into brokerage.recording (setup, run_id, part, decided_at, tasks, queues, subjects, rules, program)
  values (p_run.setup, p_run.run_id, p_part, p_run.started_at, brokerage.to_columns(p_tasks), v_queues, v_subjects,
          md5(v_rules::text), v_program);
end $$;

comment on function brokerage.keep_facts(
  brokerage.run, bigint, brokerage.profile_rule[], brokerage.facts_by_subject, brokerage.task_facts[],
  brokerage.queue_facts[]) is
  'Keeps the facts and rules by which a part of a run is decided (brokerage.recording).';
