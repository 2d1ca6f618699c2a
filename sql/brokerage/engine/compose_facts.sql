-- How facts stand in the composed query: wide, as columns t_*, q_*, p_* of each pair, so that rules are planned into them; else as one value each
-- (t, q, p). Behind the weights the pair's weight is the text @weight@, to be replaced. What an algorithm does not know of its pairs is null.
-- p_as_nucleus: every queue counts as one of the nucleus. Facts are added again to pairs (the text @pairs@) that kept but those of the pair, as p.
create or replace function brokerage.compose_facts(p_wide boolean, p_algorithm text, p_as_nucleus boolean, out base text, out task text, out queue text, out pair text, out weighed_pair text, out again text)
language sql stable
as $$
  with source as (
    select p.oid, p.proname as name, p.proargnames as columns
      from pg_proc p
     where p.pronamespace = 'brokerage'::regnamespace
       and p.proname = case when p_algorithm = 'production_task' then 'facts_of_nucleus_pairs'
                            when p_algorithm = 'analysis_job' then case when p_wide then 'facts_of_analysis_pairs' else 'facts_of_few_analysis_pairs' end
                            when p_wide then 'facts_of_pairs' else 'facts_of_few_pairs' end
  ), attribute as (
    select k.number, k.letter, k.type, c.attname as name, c.attnum as place, format_type(c.atttypid, null) as of_type,
           k.letter <> 'p' or c.attname = any (s.columns) as is_known, k.letter || c.attname = 'pweight' as is_weight
      from (values (1, 't', 'task_facts'), (2, 'q', 'queue_facts'), (3, 'p', 'pair_facts')) k(number, letter, type)
      join pg_attribute c on c.attrelid = ('brokerage.' || k.type)::regclass and c.attnum > 0 and not c.attisdropped
     cross join source s
  ), fact as (
    select a.letter, min(a.number) as number, min(a.type) as type,
           string_agg(format('%s as %I', v.value, a.letter || '_' || a.name), ', ' order by a.place) as columns,
           string_agg(v.value, ', ' order by a.place) as attributes,
           string_agg(w.value, ', ' order by a.place) as taken,
           string_agg(format('(x.p).%I as %I', a.name, a.letter || '_' || a.name), ', ' order by a.place) as kept,
           string_agg(case when a.is_weight then '@weight@' else w.value end, ', ' order by a.place) as weighed
      from attribute a
     cross join lateral (select case when p_as_nucleus and a.letter || a.name = 'pis_nucleus_queue' then 'true' when a.is_known then format('%s.%I', a.letter, a.name) else 'null::' || a.of_type end) v(value)
     cross join lateral (select case when p_wide then format('x.%I', a.letter || '_' || a.name) else format('(x.%s).%I', a.letter, a.name) end) w(value)
     group by a.letter
  ), text as (
    select f.letter, f.number,
           case when p_wide then f.columns else format('row(%s)::brokerage.%I as %s', f.attributes, f.type, f.letter) end as made,
           case when p_wide then format('row(%s)::brokerage.%I', f.taken, f.type) else 'x.' || f.letter end as taken,
           case when p_wide and f.letter = 'p' then f.kept when p_wide then f.columns when f.letter <> 'p' then format('row(%s)::brokerage.%I as %s', f.attributes, f.type, f.letter) end as made_again,
           format('row(%s)::brokerage.%I', f.weighed, f.type) as weighed
      from fact f
  )
  select format('select t.ordinality as task_number, t.task_id, q.queue, q.unified_name, %s from brokerage.%s($1, $2, $3, $4) p'
                ' join unnest($2) with ordinality t on t.ordinality = p.task_number join unnest($3) with ordinality q on q.ordinality = p.queue_number%s',
                string_agg(x.made, ', ' order by x.number), (select s.name from source s),
                case when p_wide then '' else ' offset 0' end),  -- wide, rules take the columns where they are: a copy of all was a fifth of the time
         min(x.taken) filter (where x.letter = 't'), min(x.taken) filter (where x.letter = 'q'), min(x.taken) filter (where x.letter = 'p'),
         min(x.weighed) filter (where x.letter = 'p'),
         format('select x.*, %s from (@pairs@) x join unnest($2) with ordinality t on t.ordinality = x.task_number join unnest($3) q on q.queue = x.queue%s',
                string_agg(x.made_again, ', ' order by x.number), case when p_wide then '' else ' offset 0' end)
    from text x
$$;

comment on function brokerage.compose_facts(boolean, text, boolean) is
'SQL of all pairs with their facts, and how task, queue and pair (before and behind the weights) are handed to a rule over it.';
