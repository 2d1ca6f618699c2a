-- The facts of a survivor (brokerage.survivor) include the assignments of earlier turns: jobs are added to the live
-- counter, work of tasks to the remaining work at the nucleus. All columns are written out, so that rules are planned
-- into the query. p_weighed: with the present weight of the survivor.
create or replace function brokerage.compose_turn_facts(p_algorithm text, p_weighed boolean) returns text
language sql stable as $$
  select 'u.task, ' || string_agg(format('row(%s)::brokerage.%I', f.attributes, f.type), ', ' order by f.type desc)
    from (select a.type, string_agg(case when a.type = 'pair_facts' and a.name = 'weight' and p_weighed then 'x.weight'
                                         when a.type = 'pair_facts' and a.name = 'remaining_work'
                                              and p_algorithm = 'production_task'
                                         then '(x.p).remaining_work + x.assigned'
                                         when a.type = 'queue_facts' and a.name = 'live_jobs'
                                              and p_algorithm <> 'production_task'
                                         then '(x.q).live_jobs + x.assigned::bigint'
                                         else format('(x.%s).%I', left(a.type, 1), a.name) end,
                                    ', ' order by a.place) as attributes
            from (select k.type, c.attname as name, c.attnum as place
                    from (values ('queue_facts'), ('pair_facts')) k(type)
                    join pg_attribute c on c.attrelid = ('brokerage.' || k.type)::regclass and c.attnum > 0
                                       and not c.attisdropped) a
           group by a.type) f
$$;

comment on function brokerage.compose_turn_facts(text, boolean) is
  'SQL of task, queue and pair of a survivor, in the form that a rule takes in the turn of the task.';
