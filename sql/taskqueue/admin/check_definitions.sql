-- This is the part of taskqueue.check_matching for definitions.
create or replace function taskqueue.check_definitions(p_setup text)
returns table (structure text, key text, expected text, found text) language sql stable as $$
  select 'definition', 'TaskQueue ' || q.task_queue_id, taskqueue.requirements_of_task_queue(q)::text,
         d.requirements::text
    from taskqueue.task_queue q join taskqueue.definition d on d.setup = q.setup and d.definition_id = q.definition_id
   where q.setup = p_setup and d.requirements <> taskqueue.requirements_of_task_queue(q)
  union all
  select 'definition', 'definition ' || d.definition_id, d.requirements::text, to_jsonb(d)::text
    from taskqueue.definition d
   where d.setup = p_setup
     and (d.digest, d.family, d.sibling_key, d.owner_dn, d.owner_group, d.cpu_time, d.min_ram, d.pilot_types, d.sites,
          d.banned_sites, d.grid_ces, d.platforms, d.job_types, d.tags, d.search_keys)
         is distinct from
         (md5(d.requirements::text)::uuid, taskqueue.family_of(d.requirements),
          taskqueue.sibling_key_of(d.requirements), d.requirements ->> 'OwnerDN',
          d.requirements ->> 'OwnerGroup',
          (d.requirements ->> 'CPUTime')::bigint, (d.requirements ->> 'MinRAM')::float8,
          taskqueue.list_of(d.requirements, 'PilotTypes'),
          taskqueue.list_of(d.requirements, 'Sites'), taskqueue.list_of(d.requirements, 'BannedSites'),
          taskqueue.list_of(d.requirements, 'GridCEs'),
          taskqueue.list_of(d.requirements, 'Platforms'), taskqueue.list_of(d.requirements, 'JobTypes'),
          taskqueue.list_of(d.requirements, 'Tags'),
          taskqueue.definition_keys(d.setup, taskqueue.list_of(d.requirements, 'Sites'),
                                    taskqueue.list_of(d.requirements, 'Tags')))
  union all
  select 'definition', 'clauses of definition ' || d.definition_id, d.requirements ->> 'Clauses', w.clauses::text
    from taskqueue.definition d
   cross join lateral taskqueue.clauses_of_bits(p_setup, d.clauses) w (clauses)
   where d.setup = p_setup and d.clauses is not null and w.clauses is distinct from d.requirements -> 'Clauses'
  union all
  select 'clause', 'number ' || k.clause_id, k.parts::text, f.parts::text
    from taskqueue.clause c
   cross join lateral (select c.clause_id, array_agg(l order by l) as parts
                         from taskqueue.literals_of(p_setup, c.clause_id, c.clause) l) k
   cross join lateral (select array_agg(l order by l) as parts
                         from taskqueue.literal l where l.setup = p_setup and l.clause_id = c.clause_id) f
   where c.setup = p_setup and k.parts is distinct from f.parts
  union all
  select 'clause', 'version of number ' || c.clause_id, n.expected, c.version::text
    from taskqueue.clause c
   cross join lateral (
         select case when not c.clause @? '$.Attributes.*[*].* ? (@.type() == "number")' then '0'
                     when exists (select from taskqueue.literal l
                                    join taskqueue.attribute_bounds b on b.setup = p_setup and b.name = l.name
                                   cross join lateral (values (l.lower), (l.upper)) x (bound)
                                   where l.setup = p_setup and l.clause_id = c.clause_id
                                     and x.bound[1] <> all (b.bounds)) then 'none'
                     else (select '1 to ' || max(b.version) from taskqueue.attribute_bounds b where b.setup = p_setup)
                end as expected) n
   where c.setup = p_setup and c.clause is not null
     and case n.expected when '0' then c.version is distinct from 0
                         when 'none' then c.version is not null
                         else c.version not between 1 and split_part(n.expected, ' ', 3)::int end
  union all
  select 'clause', 'bounds of ' || a.name, n.bounds::text, b.bounds::text
    from taskqueue.attribute a
    left join taskqueue.attribute_bounds b on b.setup = p_setup and b.name = a.name
   cross join lateral (select array(select distinct v from unnest(b.bounds) v order by v) as bounds) n
   where a.setup = p_setup and a.type = 'number' and b.bounds is distinct from n.bounds
$$;

comment on function taskqueue.check_definitions(text) is
  'Differences between definitions with their clauses and the requirements from which they are derived. No row means '
  'that everything is right.';
