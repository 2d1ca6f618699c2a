-- Every name behind a dot in the text of a function counts as a column. So the result may have columns that no rule
-- reads, but it lacks none as long as functions read facts by name. A function outside this schema may read facts in
-- another way.
create or replace function brokerage.facts_read(p_rules brokerage.profile_rule[], p_algorithm text) returns text[]
language sql stable as $$
  with recursive rule as materialized (
    select parse_ident(r.function) as name
      from unnest(p_rules) r
     where r.algorithm = p_algorithm and r.enabled and r.function is not null
       and r.kind not in ('task rule', 'second pass', 'pending', 'fact')
  ), called(name) as (
    select r.name[2] collate "C" from rule r
    union
    select m.words[1]
      from called c
      join pg_proc p on p.proname = c.name::name and p.pronamespace = 'brokerage'::regnamespace
     cross join lateral regexp_matches(p.prosrc, E'brokerage\\.(\\w+)\\(', 'g') m(words)
  ), word as materialized (
    select distinct m.words[1] as name
      from called c
      join pg_proc p on p.proname = c.name::name and p.pronamespace = 'brokerage'::regnamespace
     cross join lateral regexp_matches(p.prosrc, E'\\.(\\w+)', 'g') m(words)
    union
    select 'is_distributed'  -- a choice may spare pairs by this column (brokerage.compose_spared)
  )
  select array_agg(k.letter || a.attname)
    from (values ('t_', 'task_facts'), ('q_', 'queue_facts')) k(letter, type)
    join pg_attribute a on a.attrelid = ('brokerage.' || k.type)::regclass and a.attnum > 0 and not a.attisdropped
    join word w on w.name = a.attname
  having not exists (select from rule r where r.name[1] <> 'brokerage')
$$;

comment on function brokerage.facts_read(brokerage.profile_rule[], text) is
  'Columns of tasks (t_*) and queues (q_*) that the rules of a profile read; null (not known) if a function is in '
  'another schema.';
