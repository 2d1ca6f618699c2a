-- The function computes classes and stores nothing.
create or replace function brokerage.classes(p_setup text, p_profile text default null)
returns table (kind text, name text, class text, reason text, figures jsonb)
language plpgsql stable security definer set search_path = brokerage, pg_temp as $$
declare
  v_profile text := brokerage.profile_in_force(p_setup, p_profile);
begin
  perform resource.identify_viewer(p_setup);
  perform resource.require_known_setup(p_setup);
  perform brokerage.require_profile(v_profile);
  return query
    select 'queue', s.queue, (array['lo', 'mid', 'hi'])[s.site_class + 2], s.reason,
           jsonb_build_object('jobs', s.jobs, 'mean_wait', s.mean_wait, 'upper_wait', s.upper_wait, 'long_jobs',
                              s.long_jobs, 'mean_long_wait', s.mean_long_wait)
      from brokerage.site_classes(p_setup, brokerage.base_profile(v_profile)) s
    union all
    select 'user', u.user_name,
           case when u.rem_slots_a > 0 then 'A' when u.rem_slots_b > 0 then 'B' else 'C' end,
           format('uses %s slots in hi-sites and %s in mid-sites: %s left of class A, %s of class B', u.slots_hi,
                  u.slots_mid, u.rem_slots_a, u.rem_slots_b),
           jsonb_build_object('slots_hi', u.slots_hi, 'slots_mid', u.slots_mid, 'rem_slots_a', u.rem_slots_a,
                              'rem_slots_b', u.rem_slots_b)
      from brokerage.user_slots(p_setup) u
    union all
    select 'task', t.task_id::text, (array['C', 'B', 'A', 'S'])[t.task_class + 2], t.reason, '{}'::jsonb
      from brokerage.task_classes(p_setup) t
    order by 1, 2;
end $$;

comment on function brokerage.classes(text, text) is
  'Classes of user analysis by the jobs of this database: of queues (hi, mid, lo), of users (A, B, C by their '
  'remaining slots) and of tasks (S, A, B, C), each with the reason and the numbers behind it. The classes of users '
  'follow from the queue classes in force, and those of tasks from the stored slots of their users; brokerage.classify '
  'instead uses each result in the next step. To see what it would store, call it first, in a transaction that is '
  'rolled back. The base profile panda2026 takes only the waits of merge jobs (processing_type pmerge, or the task '
  'is_merging) and of jobs of user gangarbt. Errors: PB001 (no such setup or profile), PB002 (setup not granted).';
