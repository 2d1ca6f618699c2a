-- worlds.md, Dumping: gives the sections task_queue_settings, cpu_buckets, groups, platform_compatibility,
-- attributes, error_classes, held_owners, retry_rules, limits and quarantines.
create or replace function taskqueue.dump_configuration(p_setup text) returns jsonb
language plpgsql stable security definer set search_path = taskqueue, pg_temp as $$
begin
  perform resource.identify(p_setup);
  return (
    select jsonb_build_object(
             'task_queue_settings', jsonb_build_object(
               'ten_first', s.ten_first, 'memory_tags', s.memory_tags, 'keep_gpus', s.keep_gpus,
               'strict_keys', s.strict_keys, 'required_keys', s.required_keys,
               'queue_size', s.queue_size,
               'policy', s.policy, 'shares', s.shares, 'lease_time', extract(epoch from s.lease_time)::float8,
               'heartbeat_time', extract(epoch from s.heartbeat_time)::float8, 'attempts', s.attempts, 'share_delay',
               extract(epoch from s.share_delay)::float8, 'resource_time', extract(epoch from s.resource_time)::float8,
               'share_correction', s.share_correction, 'correction_window',
               extract(epoch from s.correction_window)::float8,
               'history_kept', extract(epoch from s.history_kept)::float8,
               'most_names', s.most_names, 'payload_size', s.payload_size, 'description_size', s.description_size,
               'requirements_size', s.requirements_size, 'batch_size', s.batch_size, 'reason_size', s.reason_size,
               'most_retries', s.most_retries, 'most_ram', s.most_ram,
               'avoid_time', extract(epoch from s.avoid_time)::float8, 'guard', s.guard, 'guard_score', s.guard_score,
               'most_quarantined', s.most_quarantined),
             'cpu_buckets', (
               select coalesce(jsonb_agg(b.cpu_time order by b.cpu_time), '[]')
                 from taskqueue.cpu_bucket b
                where b.setup = p_setup),
             'groups', (
               select coalesce(jsonb_object_agg(g.owner_group, jsonb_build_object(
                        'share', g.share, 'job_sharing', g.job_sharing, 'allow_background', g.allow_background)), '{}')
                 from taskqueue.owner_group g where g.setup = p_setup),
             'platform_compatibility', (
               select coalesce(jsonb_object_agg(c.offered, c.accepted), '{}')
                 from (select p.offered, jsonb_agg(p.accepted order by p.accepted collate "C") as accepted
                         from taskqueue.platform_compatibility p where p.setup = p_setup group by p.offered) c),
             'attributes', (
               select coalesce(jsonb_object_agg(a.name, to_jsonb(a) - '{setup,name}'::text[]), '{}')
                 from taskqueue.attribute a where a.setup = p_setup),
             'error_classes', (
               select coalesce(jsonb_agg(jsonb_strip_nulls(to_jsonb(c) - 'setup') order by c.position), '[]')
                 from taskqueue.error_class c where c.setup = p_setup),
             'held_owners', (
               select coalesce(jsonb_agg(o.owner_dn order by o.owner_dn collate "C"), '[]')
                 from taskqueue.held_owner o where o.setup = p_setup),
             'retry_rules', (
               select coalesce(jsonb_agg(
                        jsonb_strip_nulls(to_jsonb(r) - 'setup'
                                          || jsonb_build_object('delay', extract(epoch from r.delay)::float8,
                                                                'less_input', nullif(r.less_input, false),
                                                                'passive', nullif(r.passive, false)))
                        order by r.position), '[]')
                 from taskqueue.retry_rule r where r.setup = p_setup),
             'limits', (
               select coalesce(jsonb_agg(
                        jsonb_build_object('site', l.site, 'ce', l.grid_ce, 'kind', l.kind, 'attribute',
                                           l.attribute, 'value', l.value)
                        || case l.kind when 'running' then jsonb_build_object('limit', l.ceiling)
                                       else jsonb_build_object('seconds', extract(epoch from l.delay)::float8,
                                                               'burst', l.burst) end
                        order by l.site collate "C", l.grid_ce collate "C" nulls first, l.kind, l.attribute,
                                 l.value collate "C"), '[]')
                 from taskqueue.site_limit l where l.setup = p_setup),
             'quarantines', (
               select coalesce(jsonb_agg(
                        jsonb_build_object('kind', q.kind, 'site', nullif(q.site, ''), 'name', q.name, 'why', q.why)
                        order by q.site collate "C", q.kind, q.name collate "C"), '[]')
                 from taskqueue.quarantine q where q.setup = p_setup and not q.is_automatic))
      from taskqueue.setting s
     where s.setup = p_setup);
end $$;

comment on function taskqueue.dump_configuration(text) is
  'Settings (times in seconds), CPU buckets (seconds), groups, compatible platforms, attributes, classes of errors, '
  'retry rules, held owners, limits and quarantines of operators of a setup, as sections of a world; null if the setup '
  'has none. Errors: PB002 (setup not granted).';
