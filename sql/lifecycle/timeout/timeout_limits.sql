-- The configuration is read once for all jobs. Its numbers are hours, those of a queue are days; 1e6 means never.
create or replace function lifecycle.timeout_limits(p_setup text)
returns table (timeout lifecycle.timeout, name_prefix text, by_name jsonb, by_key interval, by_setting interval,
               least_limit interval)
language plpgsql stable rows 30 as $$
begin
  return query
    select t, p.name_prefix, n.by_name, k.by_key, v.by_setting,
           least(n.least_of_names, k.by_key, v.by_setting, t.constant,
                 (select min(least(n.days, 1e6))
                    from resource.queue q
                   cross join lateral (
                     select nullif(greatest(case t.queue_column
                                              when 'transtimehi' then q.transtimehi
                                              when 'transtimelo' then q.transtimelo end, 0), 0)) n(days)
                   where q.setup = p_setup and n.days is not null) * interval '1 day')
      from lifecycle.timeouts_of(p_setup) t
     cross join lateral (select split_part(split_part(t.key_by_name, ':', 2), '<', 1) as name_prefix,
                                split_part(t.key_by_name, ':', 1) as component) p
     cross join lateral (
       select jsonb_object_agg(c.name, c.hours) as by_name,
              min(c.hours) * interval '1 hour' as least_of_names
         from (select x.name,
                      lifecycle.limit_in_force(p_setup, p.component, p.name_prefix || x.name) as hours
                 from (select distinct substr(c.key, length(p.name_prefix) + 1) as name
                         from resource.config c
                        where t.key_by_name is not null and c.app = 'pandaserver' and starts_with(c.key, p.name_prefix)
                          and c.component in ('', p.component)) x) c
        where c.hours is not null) n
     cross join lateral (
       -- few timeouts have a key; without `offset` it would be looked up for each use
       select case when t.key is not null
                   then lifecycle.limit_in_force(p_setup, split_part(t.key, ':', 1), split_part(t.key, ':', 2))
              end * interval '1 hour' as by_key
       offset 0) k
     cross join lateral (
       select (select (to_jsonb(s) ->> t.queue_setting)::interval from taskqueue.setting s
                where s.setup = p_setup) as by_setting) v;
end $$;

comment on function lifecycle.timeout_limits(text) is
  'Timeouts of a setup with their limits from the configuration: hours by name (workflow or group), by key, and from '
  'the setting; and the least limit that the timeout can have for any job.';
