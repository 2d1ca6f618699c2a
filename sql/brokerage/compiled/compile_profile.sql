-- A session keeps the plan of a statement in a function, but plans a composed query at each call, which takes longer
-- than deciding one task by it. So the narrow queries of each profile are functions in the schema brokerage_compiled.
-- Such a function takes the facts ($1 to $3) and the key of the rules by which its caller decides ($4). It gives
-- nothing for another key, since a run may have read its rules before the profile was changed. A change waits for
-- another change of the same profile, so that the functions have the rules of both.
create or replace function brokerage.compile_profile(p_profile text, p_all boolean) returns void
language plpgsql as $$
declare
  v_rules brokerage.profile_rule[];
  v_algorithm text;
  v_key text;
  v_query record;
begin
  perform pg_advisory_xact_lock(hashtext('brokerage.compile_profile'), hashtext(p_profile));
  v_rules := brokerage.rules_of(p_profile);
  for v_algorithm in select distinct r.algorithm from unnest(v_rules) r order by r.algorithm loop
    begin
      v_key := brokerage.query_key(v_rules, v_algorithm);
      for v_query in
        select n.name, q.result,
               format(q.head, v_key) || case q.query when 'answers'
                                                     then brokerage.compose_answers(v_rules, v_algorithm, false)
                                                     else brokerage.compose_turns(v_rules, v_algorithm, false) end
               || q.tail as body
          from (values ('answers', 'setof brokerage.task_answer', 'begin if $4 = %L then return query ',
                        '; end if; end'),
                       ('turns', 'refcursor',
                        'declare v_turns refcursor; begin if $4 = %L then open v_turns no scroll for ',
                        '; end if; return v_turns; end')) q(query, result, head, tail)
         cross join lateral (select brokerage.compiled_query(q.query, v_algorithm, p_profile) as name) n
         where p_all or not exists (select from pg_proc p
                                      where p.oid = to_regproc(n.name) and strpos(p.prosrc, v_key) > 0)
      loop
        execute format('create or replace function %s(brokerage.facts_by_subject, brokerage.task_facts[], '
                       'brokerage.queue_facts[], text) returns %s language plpgsql '
                       'set plan_cache_mode = force_generic_plan as %L', v_query.name, v_query.result, v_query.body);
      end loop;
    exception when sqlstate 'PB001' or sqlstate 'PB002' then  -- a run by this profile raises the error
      for v_query in
        select to_regproc(brokerage.compiled_query(q.query, v_algorithm, p_profile))::regprocedure as name
          from (values ('answers'), ('turns')) q(query)
      loop
        if v_query.name is not null then
          execute format('drop function %s', v_query.name);
        end if;
      end loop;
    end;
  end loop;
end $$;

comment on function brokerage.compile_profile(text, boolean) is
  'Makes the functions that keep the queries of a profile, those of changed rules or (p_all) all of them. For an '
  'algorithm that cannot be composed there is none.';
