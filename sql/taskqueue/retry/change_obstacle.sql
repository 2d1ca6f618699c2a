-- RETRIES.md, Changes. Inlined. The setting most_names is at least 100, so a dump of the changed job can be loaded.
create or replace function taskqueue.change_obstacle(p_rule taskqueue.retry_rule, p_failure taskqueue.failure)
returns text
language sql stable as $$
  select case
    when num_nulls(p_rule.memory_factor, p_rule.time_factor, p_rule.elsewhere) = 3 then null
    when p_failure.requirements is null
    then case when not p_failure.of_task then 'the requirements of the job are no longer kept' end
    else (
      select case
        when n.elsewhere = 'host' and p_failure.host is null then 'the end names no host'
        when n.elsewhere = 'site' and p_failure.site is null then 'the lease names no site'
        when n.elsewhere = 'site' and p_failure.requirements -> 'Sites' <@ (n.changed -> 'BannedSites')
        then format('without %s, no site of Sites is left', p_failure.site)
        when n.elsewhere = 'site' and jsonb_array_length(n.changed -> 'BannedSites') > 100
        then format('BannedSites would have %s sites, and rules ban sites up to 100',
                    jsonb_array_length(n.changed -> 'BannedSites'))
        when p_rule.memory_factor is not null and not p_failure.of_task
             and coalesce((n.changed ->> 'MinRAM')::float8, 0) = 0
        then 'no memory is known: the job has no MinRAM, and the end does not say what it used'
        when p_rule.memory_factor is not null and (n.changed ->> 'MinRAM')::float8 > p_failure.most_ram
        then format('MinRAM would be %s MB, and most_ram is %s', n.changed ->> 'MinRAM', p_failure.most_ram)
        when p_rule.time_factor is not null and not p_failure.of_task
             and (n.changed ->> 'CPUTime')::numeric > p_failure.last_bucket
        then format('CPUTime would be %s s, and the last CPU bucket is %s',
                    trim_scale((n.changed ->> 'CPUTime')::numeric), p_failure.last_bucket)
        end
        from (select o.elsewhere, taskqueue.changed_requirements(
                       p_failure.requirements, p_rule.memory_factor, p_rule.time_factor,
                       case when o.elsewhere = 'site' then p_failure.site end,
                       case when not p_failure.of_task then p_failure.ram_used end) as changed
                from (select case when not p_failure.of_task then p_rule.elsewhere end as elsewhere) o offset 0) n)
  end
$$;

comment on function taskqueue.change_obstacle(taskqueue.retry_rule, taskqueue.failure) is
  'The reason why the changes of a retry rule are impossible for a job, in words; null if they are possible, or if '
  'there are none. For a job of a task only most_ram is a bound.';
