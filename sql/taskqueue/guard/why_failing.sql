-- GUARD.md, Quarantines.
create or replace function taskqueue.why_failing(p_health taskqueue.health, p_ends taskqueue.counted_end[])
returns text
language sql stable as $$
  select format('%s of %s jobs failed%s, %s %% would be usual for them',
                p_health.failures::bigint, p_health.ends::bigint, l.said,
                round((100 * p_health.usual / p_health.ends)::numeric))
    from (values (1)) one
    left join lateral (
      select concat(', the last one within ' || case when m.took <= interval '1 minute' then 'a minute'
                                                     else ceil(extract(epoch from m.took) / 60)::bigint || ' minutes'
                                                end, ' (class ' || e.error_class || ')') as said
        from unnest(p_ends) e
        left join lateral (
          select e.at - h.at as took
            from taskqueue.history h
           where h.setup = p_health.setup and h.job_id = e.job_id and h.attempt = e.attempt and h.event = 'matched'
             and h.at <= e.at
           limit 1) m on true
       where e.site = p_health.site and e.host = p_health.name and e.failed
       order by e.at desc, e.job_id desc
       limit 1) l on true
$$;

comment on function taskqueue.why_failing(taskqueue.health, taskqueue.counted_end[]) is
  'The reason for a quarantine, in words: the ends of a worker node since its score was 0, and the last failed one of '
  'p_ends, if one failed.';
