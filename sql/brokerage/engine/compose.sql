-- The query of a profile, made of its rules in their order (architecture, A rule is a function). It begins with a WITH list of two relations, and
-- the caller says what to do with them:
--   judged (task_number, task_id, queue, failed, failures, weight, factors, queued, capacity, chunk)   each pair; failed is 'rule<tab>reason', with ! before it
--                                                                                    where the queue never entered the list
--   ranked (the same, place, best, best_rule)                                        those that nothing rejects, best first
-- With p_survivors judged has the facts of queues and pairs that nothing rejects (unified_name, q, p).
-- Parameters of the query: $1 setup, $2 task facts, $3 queue facts, $4 flavour. Wide: facts are columns and rules are planned into them, so a pair costs
-- a few microseconds; else facts are one value each, which plans in a tenth of the time and is the better for less than some thousand pairs.
-- Rules in a row make one level; a rule that looks at the other queues of the task (set rule, choice) makes a level of its own.
create or replace function brokerage.compose(p_profile text, p_algorithm text, p_wide boolean, p_all_failures boolean default false, p_survivors boolean default false) returns text
language plpgsql stable
as $$
declare
  v_rule brokerage.profile_rule;
  v_marks boolean;
  v_from text;
  v_facts text;
  v_weighed_facts text;
  v_queue text;
  v_pair text;
  v_level int := 0;
  v_outside text[] := '{}'::text[];
  v_persistent text[] := '{}'::text[];
  v_temporary text[] := '{}'::text[];
  v_weights text[] := '{}'::text[];
  v_failed text[] := '{}'::text[];
  v_marked text[] := '{}'::text[];
  v_failures text[] := '{}'::text[];
  v_weight text;
  v_factors text;
  v_alive text := 'true';
  v_call text;
  v_said text;
  v_best text := 'null::bigint';
  v_best_rule text;
  v_order text := '';
  v_final boolean := false;
  v_distribution jsonb := '{}'::jsonb;
begin
  select l.marks into v_marks
    from brokerage.profile_line p join brokerage.shipped_profile l on l.profile = p.of_profile
   where p.profile = p_profile;
  if not found then
    raise exception 'profile is %', coalesce(quote_literal(p_profile), 'null')
      using errcode = 'PB001', hint = format('Profiles are %s; brokerage.profile holds those of your own.', (select string_agg(distinct l.profile, ', ') from brokerage.profile_line l));
  end if;
  select format('select %s, %s, %s, t.ordinality as task_number, t.task_id, q.queue, q.unified_name from brokerage.%s($1, $2, $3, $4) p'
                ' join unnest($2) with ordinality t on t.ordinality = p.task_number join unnest($3) with ordinality q on q.ordinality = p.queue_number offset 0',
                f.columns[1], f.columns[2], f.columns[3], case when p_wide then 'facts_of_pairs' else 'facts_of_few_pairs' end),
         array_to_string(f.rows, ', '), array_to_string(f.weighed_rows, ', '), f.rows[2], f.rows[3]
    into v_from, v_facts, v_weighed_facts, v_queue, v_pair
    from (select array_agg(case when p_wide then a.columns else format('row(%s)::brokerage.%I as %s', a.attributes, a.type, a.letter) end order by a.number) as columns,
                 array_agg(case when p_wide then format('row(%s)::brokerage.%I', a.prefixed, a.type) else 'x.' || a.letter end order by a.number) as rows,
                 array_agg(case when p_wide then format('row(%s)::brokerage.%I', a.weighed, a.type)
                                when a.letter = 'p' then format('row(%s)::brokerage.%I', a.weighed, a.type) else 'x.' || a.letter end order by a.number) as weighed_rows
            from (select k.number, k.letter, k.type,
                         string_agg(format('%s as %I', n.value, k.letter || '_' || c.attname), ', ' order by c.attnum) as columns,
                         string_agg(n.value, ', ' order by c.attnum) as attributes,
                         string_agg(format('x.%I', k.letter || '_' || c.attname), ', ' order by c.attnum) as prefixed,
                         string_agg(case when k.letter || c.attname = 'pweight' then '@weight@' when p_wide then format('x.%I', k.letter || '_' || c.attname) else format('(x.p).%I', c.attname) end, ', ' order by c.attnum) as weighed
                    from (values (1, 't', 'task_facts'), (2, 'q', 'queue_facts'), (3, 'p', 'pair_facts')) k(number, letter, type)
                    join pg_attribute c on c.attrelid = ('brokerage.' || k.type)::regclass and c.attnum > 0 and not c.attisdropped
                   cross join lateral (select case when k.letter || c.attname = 'pweight' then 'null::float8' else format('%s.%I', k.letter, c.attname) end) n(value)
                   group by k.number, k.letter, k.type) a) f;

  for v_rule in
    select r.* from brokerage.rule_in_force r where r.profile = p_profile and r.algorithm = p_algorithm and r.enabled and r.kind not in ('task rule', 'pending', 'fact')
    union all
    select p_profile, p_algorithm, 'end', 'end', 'infinity', null, null, false, true, '{}', null
     order by position, rule
  loop
    if v_rule.kind = 'candidate' and v_level > 0 then
      raise exception 'rule % of profile % is of kind candidate and stands behind others', v_rule.rule, p_profile
        using errcode = 'PB001', hint = 'Who enters the list is decided first: give it a lower position.';
    end if;
    if v_final and v_rule.kind not in ('distribution', 'end') then
      raise exception 'rule % of profile % stands behind rule %, which chooses by weight', v_rule.rule, p_profile, v_best_rule
        using errcode = 'PB001', hint = 'The choice by weight is the last of the rules: give this one a lower position.';
    end if;
    if v_rule.kind not in ('candidate', 'row rule') and cardinality(v_outside || v_persistent || v_temporary) > 0 then
      v_from := brokerage.compose_chain(v_from, v_level, v_alive, v_outside, v_persistent, v_temporary, p_all_failures);
      v_failed := v_failed || format('x.failed_%s', v_level);
      if p_all_failures then
        v_failures := v_failures || format('x.failures_%s', v_level);
      end if;
      if cardinality(v_temporary) > 0 then
        v_marked := format('x.marked_%s', v_level) || v_marked;
      end if;
      v_level := v_level + 1;
      v_outside := '{}'::text[];
      v_persistent := '{}'::text[];
      v_temporary := '{}'::text[];
      v_alive := format('coalesce(%s) is null', array_to_string(v_failed, ', '));
    end if;
    if v_rule.kind <> 'weight' and cardinality(v_weights) > 0 then
      v_from := format('select x.*, case when %s then array[%s]::float8[] end as factors from (%s) x offset 0', v_alive, array_to_string(v_weights, ', '), v_from);
      v_weight := (select string_agg(format('x.factors[%s]', n), ' * ') from generate_subscripts(v_weights, 1) n);
      v_facts := replace(v_weighed_facts, '@weight@', v_weight);
      v_factors := 'x.factors';
      v_weights := '{}'::text[];
    end if;
    if v_rule.kind = 'weight' and v_weight is not null then
      raise exception 'weight % of profile % stands behind rules that read the weight', v_rule.rule, p_profile
        using errcode = 'PB001', hint = 'Weights stand together: give this one a lower position.';
    end if;
    v_call := case when v_rule.function is not null or v_rule.kind not in ('choice', 'end')
                   then brokerage.rule_call(v_rule, v_facts) end;
    v_said := coalesce(v_rule.parameters ->> 'as', v_rule.rule) || E'\t' || case when v_rule.parameters ? 'as' then coalesce(v_rule.criteria || ': ', '') else '' end;
    case v_rule.kind
      when 'distribution' then
        v_distribution := v_distribution || jsonb_build_object(v_rule.rule, format('case when %s then %s end', v_alive, v_call));
      when 'end' then
        null;
      when 'candidate' then
        v_outside := v_outside || format('%L || %s', '!' || v_said, v_call);
      when 'row rule' then
        if v_rule.temporary and v_marks then
          v_temporary := format('%L || %s', v_said, v_call) || v_temporary;  -- the last mark that was written counts
        else
          v_persistent := v_persistent || format('%L || %s', v_said, v_call);
        end if;
      when 'weight' then
        if cardinality(v_weights) = 0 and cardinality(v_marked) > 0 then  -- marked queues are removed before the weights
          v_failed := v_failed || v_marked;
          v_marked := '{}'::text[];
          v_alive := format('coalesce(%s) is null', array_to_string(v_failed, ', '));
        end if;
        v_weights := v_weights || v_call;
      when 'set rule' then
        v_from := format('select x.*, case when %s then %s end as said_%s from (%s) x offset 0', v_alive, v_call, v_level, v_from);
        v_from := format('select x.*, case when %1$s and bool_or(%1$s and x.said_%2$s is null) over (partition by x.task_number) then %3$L || x.said_%2$s end as failed_%2$s from (%4$s) x offset 0',
                         v_alive, v_level, v_said, v_from);
        v_failed := v_failed || format('x.failed_%s', v_level);
        v_level := v_level + 1;
        v_alive := format('coalesce(%s) is null', array_to_string(v_failed, ', '));
      when 'choice' then
        if coalesce(jsonb_typeof(v_rule.parameters -> 'best'), '') <> 'number' then
          raise exception 'rule % of profile %: parameter best is %', v_rule.rule, p_profile, coalesce(v_rule.parameters ->> 'best', 'not there')
            using errcode = 'PB001', hint = 'Say how many queues are kept: {"best": 10}.';
        end if;
        if v_call is null then
          v_final := true;
          v_best := format('%L::bigint', (v_rule.parameters ->> 'best')::bigint);
          v_best_rule := v_rule.rule;
          v_order := case when (v_rule.parameters ->> 'zero_first')::boolean then 'x.weight <> 0, ' else '' end;
        else
          v_from := format('select x.*, case when %s then %s end as value_%s from (%s) x offset 0', v_alive, v_call, v_level, v_from);
          v_from := format('select x.*, case when x.value_%1$s is not null and row_number() over (partition by x.task_number order by x.value_%1$s desc nulls last, x.queue collate "C") > %2$s'
                           ' then %3$L || format(''%%s is not among the %2$s best'', x.value_%1$s) end as failed_%1$s from (%4$s) x offset 0',
                           v_level, (v_rule.parameters ->> 'best')::bigint, v_said, v_from);
          v_failed := v_failed || format('x.failed_%s', v_level);
          v_level := v_level + 1;
          v_alive := format('coalesce(%s) is null', array_to_string(v_failed, ', '));
        end if;
    end case;
  end loop;
  return format(
    'with judged as materialized (select x.task_number, x.task_id, x.queue, coalesce(%1$s) as failed, %2$s as failures, %3$s as weight, %4$s as factors, (%9$s)::bigint as queued, (%10$s)::bigint as capacity, (%11$s)::int as chunk%12$s from (%5$s) x), '
    'ranked as materialized (select x.*, row_number() over (partition by x.task_number order by %6$s x.weight desc nulls last, x.queue collate "C") as place, %7$s as best, %8$L::text as best_rule'
    ' from judged x where x.failed is null) ',
    array_to_string(v_failed || v_marked || 'null::text'::text, ', '),
    case when cardinality(v_failures) = 0 then 'null::text[]' else array_to_string(v_failures, ' || ') end,
    coalesce(v_weight, 'null::float8'), coalesce(v_factors, 'null::float8[]'),
    v_from,
    v_order, v_best, v_best_rule,
    coalesce(v_distribution ->> 'queued-jobs', 'null'), coalesce(v_distribution ->> 'running-jobs-cap', 'null'), coalesce(v_distribution ->> 'job-chunk', 'null'),
    case when p_survivors then format(', x.unified_name, case when %1$s then %2$s end as q, case when %1$s then %3$s end as p', v_alive, v_queue, v_pair) else '' end);
end $$;

comment on function brokerage.compose(text, text, boolean, boolean, boolean) is
'SQL of a profile: the relations judged and ranked over all pairs of tasks and queues, made of the rules in force. Errors: PB001 (no such profile, a rule that does not fit), PB002 (a rule whose owner is not trusted).';
