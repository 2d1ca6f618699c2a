-- The form of facts in the composed query. Wide: rules take the columns of pairs as x.p_*, and those of tasks and
-- queues from their own relations (t, q). These are joined to each level, from the second one on only to the remaining
-- pairs, because each column that a level hands on costs time for every pair, read or not, and facts have 250 columns.
-- Not wide: facts are one value each (x.t, x.q, x.p). Behind the weights the pair's weight is the text @weight@, which
-- the caller replaces. Columns for which an algorithm has no values are null. p_as_nucleus: every queue counts as one
-- of the nucleus. p_read (brokerage.facts_read): the columns of tasks and queues that rules read. If p_read is given,
-- pairs have these columns from the first level on (x.t_*, x.q_*), and no level needs a join, which is better if most
-- pairs pass. Null means that each level joins. again: adds the facts to pairs (the text @pairs@) that kept only the
-- facts of the pair, as p. base: the relation from which the first level selects; begins: its select list. joined: the
-- joins of each later level; the caller replaces the text @alive@. Long because each of three shapes is one text.
create or replace function brokerage.compose_facts(
  p_wide boolean, p_algorithm text, p_as_nucleus boolean, p_read text[]
) returns brokerage.composed_facts
language sql stable as $$
  with source as (
    select p.oid, p.proname as name, p.proargnames as columns
      from pg_proc p
     where p.pronamespace = 'brokerage'::regnamespace
       and p.proname = case when p_algorithm = 'production_task' then 'facts_of_nucleus_pairs'
                            when p_algorithm = 'analysis_job' then 'facts_of_analysis_pairs'
                            else 'facts_of_pairs' end
  ), attribute as (
    select k.number, k.letter, k.type, c.attname as name, c.attnum as place, format_type(c.atttypid, null) as of_type,
           k.letter <> 'p' or c.attname = any (s.columns) as is_known,
           k.letter || '_' || c.attname = any (p_read) as is_read,
           p_as_nucleus and k.letter || c.attname = 'pis_nucleus_queue' as is_true,
           k.letter || c.attname = 'pweight' as is_weight
      from (values (1, 't', 'task_facts'), (2, 'q', 'queue_facts'), (3, 'p', 'pair_facts')) k(number, letter, type)
      join pg_attribute c on c.attrelid = ('brokerage.' || k.type)::regclass and c.attnum > 0 and not c.attisdropped
     cross join source s
  ), fact as (
    select a.letter, min(a.number) as number, min(a.type) as type,
           string_agg(format('%s.%I as %I', a.letter, a.name, a.letter || '_' || a.name),
                      ', ' order by a.place) filter (where a.letter = 'p' and a.is_known or a.is_read) as columns,
           string_agg(v.value, ', ' order by a.place) as attributes,
           string_agg(w.value, ', ' order by a.place) as taken,
           string_agg(format('(x.p).%I as %I', a.name, a.letter || '_' || a.name),
                      ', ' order by a.place) filter (where a.is_known) as kept,
           string_agg(format('x.%I', a.letter || '_' || a.name),
                      ', ' order by a.place) filter (where a.is_known) as carried,
           string_agg(format('%I %s', a.letter || '_' || a.name, a.of_type),
                      ', ' order by a.place) filter (where a.is_known) as carried_as,
           string_agg(case when a.is_weight then '@weight@' else w.value end, ', ' order by a.place) as weighed
      from attribute a
     cross join lateral (select case when a.is_true then 'true'
                                     when a.is_known then format('%s.%I', a.letter, a.name)
                                     else 'null::' || a.of_type end) v(value)
     cross join lateral (select case
       when not p_wide then format('(x.%s).%I', a.letter, a.name)
       when a.is_read or a.letter = 'p' and a.is_known and not a.is_true
       then format('x.%I', a.letter || '_' || a.name)
       when a.letter <> 'p' and p_read is not null then 'null::' || a.of_type
       else v.value end) w(value)
     group by a.letter
  ), text as (
    select f.letter, f.number, f.columns, f.kept, f.carried, f.carried_as,
           format('row(%s)::brokerage.%I as %s', f.attributes, f.type, f.letter) as made,
           case when p_wide then format('row(%s)::brokerage.%I', f.taken, f.type) else 'x.' || f.letter end as taken,
           format('row(%s)::brokerage.%I', f.weighed, f.type) as weighed
      from fact f
  ), whole as (
    select s.name, string_agg(x.made, ', ' order by x.number) as made,
           string_agg(x.made, ', ' order by x.number) filter (where x.letter <> 'p') as made_again,
           min(x.columns) filter (where x.letter = 'p') as columns, min(x.kept) filter (where x.letter = 'p') as kept,
           concat(string_agg(', ' || x.columns, '' order by x.number) filter (where x.letter <> 'p')) as read,
           min(x.carried) filter (where x.letter = 'p') as carried,
           min(x.carried_as) filter (where x.letter = 'p') as carried_as,
           min(x.taken) filter (where x.letter = 't') as task, min(x.taken) filter (where x.letter = 'q') as queue,
           min(x.taken) filter (where x.letter = 'p') as pair,
           min(x.weighed) filter (where x.letter = 'p') as weighed_pair
      from text x cross join source s group by s.name
  )
  select case when p_read is not null
              then format('(select p.task_number, p.queue_number, t.task_id, q.queue, q.unified_name, %s%s'
                          ' from brokerage.%s($1, $2, $3) p'
                          ' join unnest($2) with ordinality t on t.ordinality = p.task_number'
                          ' join unnest($3) with ordinality q on q.ordinality = p.queue_number) x',
                          w.columns, w.read, w.name)
              when p_wide
              then format('(select p.task_number, p.queue_number, %s from brokerage.%s($1, $2, $3) p) x'
                          ' join unnest($2) with ordinality t on t.ordinality = x.task_number'
                          ' join unnest($3) with ordinality q on q.ordinality = x.queue_number', w.columns, w.name)
              else format('(select p.task_number, p.queue_number, t.task_id, q.queue, q.unified_name, %s'
                          ' from brokerage.%s($1, $2, $3) p'
                          ' join unnest($2) with ordinality t on t.ordinality = p.task_number'
                          ' join unnest($3) with ordinality q on q.ordinality = p.queue_number offset 0) x',
                          w.made, w.name) end,
         case when p_wide and p_read is null then 'x.*, t.task_id, q.queue, q.unified_name' else 'x.*' end,
         case when p_wide and p_read is null
              then ' left join unnest($2) with ordinality t'
                   ' on t.ordinality = case when @alive@ then x.task_number end'
                   ' left join unnest($3) with ordinality q'
                   ' on q.ordinality = case when @alive@ then x.queue_number end'
              else '' end,
         w.task, w.queue, w.pair, w.weighed_pair,
         case when p_read is not null
              then format('(select x.*, %s%s from (@pairs@) x'
                          ' join unnest($2) with ordinality t on t.ordinality = x.task_number'
                          ' join unnest($3) with ordinality q on q.ordinality = x.queue_number offset 0) x',
                          w.kept, w.read)
              when p_wide then format('(select x.*, %s from (@pairs@) x) x', w.kept)
              else format('(select x.*, %s from (@pairs@) x'
                          ' join unnest($2) with ordinality t on t.ordinality = x.task_number'
                          ' join unnest($3) with ordinality q on q.ordinality = x.queue_number offset 0) x',
                          w.made_again) end,
         w.carried, w.carried_as
    from whole w
$$;

comment on function brokerage.compose_facts(boolean, text, boolean, text[]) is
  'SQL of all pairs with their facts, and SQL of a rule''s arguments task, queue and pair, before and behind the '
  'weights.';
