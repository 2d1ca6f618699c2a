-- MATCHING.md, CPU buckets: existing TaskQueues move to the new buckets in one call. TaskQueues that become equal are
-- merged: their jobs go to the oldest one. Only buckets are stored, so a TaskQueue moves to the next new bucket at or
-- above its old one. A merged TaskQueue may exceed queue_size.
create or replace function taskqueue.set_cpu_buckets(p_setup text, p_buckets bigint[]) returns bigint
language plpgsql security definer set search_path = taskqueue, pg_temp as $$
declare
  v_changed bigint;
  v_wrong text;
  v_task_queue record;
begin
  perform resource.identify(p_setup);
  if coalesce(cardinality(p_buckets), 0) = 0 then
    raise exception 'buckets are %', coalesce(quote_literal(p_buckets::text), 'null')
      using errcode = 'PB001', hint = 'Give at least one bucket; buckets are positive seconds.';
  end if;
  select coalesce(b::text, 'null') into v_wrong
    from unnest(p_buckets) b where b <= 0 or b is null limit 1;
  if found then
    raise exception 'invalid bucket %', v_wrong
      using errcode = 'PB001', hint = 'Buckets are positive seconds.';
  end if;
  perform taskqueue.reconfigure(p_setup);
  perform taskqueue.require_setup(p_setup);
  select format('limit %s of site %s counts jobs of CPUTime %s', l.limit_id, l.site, l.value) into v_wrong
    from taskqueue.site_limit l
   where l.setup = p_setup and l.attribute = 'CPUTime' and l.value <> all (p_buckets::text[])
   order by l.limit_id
   limit 1;
  if found then
    raise exception '%, which would be no bucket', v_wrong
      using errcode = 'PB005', hint = 'Keep the bucket, or remove the limit first: taskqueue.clear_limit.';
  end if;
  delete from taskqueue.cpu_bucket b where b.setup = p_setup and b.cpu_time <> all (p_buckets);
  insert into taskqueue.cpu_bucket (setup, cpu_time)
  select distinct p_setup, b
    from unnest(p_buckets) b
  on conflict do nothing;
  update taskqueue.task_queue q set cpu_time = q.cpu_time
   where q.setup = p_setup and q.cpu_time <> taskqueue.cpu_bucket_of(p_setup, q.cpu_time);
  get diagnostics v_changed = row_count;
  for v_task_queue in
    select d.definition_id,
           d.requirements || jsonb_build_object('CPUTime', taskqueue.cpu_bucket_of(p_setup, d.cpu_time)) as requirements
      from taskqueue.definition d
     where d.setup = p_setup and d.cpu_time <> taskqueue.cpu_bucket_of(p_setup, d.cpu_time)
     order by d.definition_id
  loop
    perform taskqueue.replace_definition(p_setup, v_task_queue.definition_id,
                                         taskqueue.definition_of(p_setup, v_task_queue.requirements));
  end loop;
  perform taskqueue.rebuild_matching(p_setup);
  perform taskqueue.recompute_shares(p_setup);
  return v_changed;
end $$;

comment on function taskqueue.set_cpu_buckets(text, bigint[]) is
  'Sets the CPU buckets of a setup (seconds) and moves its TaskQueues to them, merging those that become equal; '
  'returns how many TaskQueues changed their bucket. Errors: PB001, PB002 (setup not granted), PB005 (a limit counts '
  'jobs of a bucket that would go), PB006 (busy).';
