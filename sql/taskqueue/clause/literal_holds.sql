-- CLAUSES.md, Meaning: the only place that compares a part of a clause with an offer. Inlined.
create or replace function taskqueue.literal_holds(
  p_literal taskqueue.literal, p_offer taskqueue.offer, p_but_size boolean
) returns boolean
language sql immutable as $$
  select coalesce(case (p_literal).kind
    when 'tag' then (p_offer).tags is null or (p_literal).name = any ((p_offer).tags)
                    or p_but_size and taskqueue.is_size_tag((p_literal).name)
    when 'no_tag' then (p_offer).tags is null or (p_literal).name <> all ((p_offer).tags)
    when 'site' then (p_offer).sites is null or (p_literal).name = any ((p_offer).sites)
    when 'absent' then (p_offer).attributes -> (p_literal).name = 'null'
    else case jsonb_typeof((p_offer).attributes -> (p_literal).name)
      when 'null' then true
      when 'array' then (p_offer).attributes -> (p_literal).name ? (p_literal).value
      when 'boolean' then (p_offer).attributes ->> (p_literal).name = (p_literal).value
      else ((p_literal).lower is null and (p_offer).attributes ? (p_literal).name or p_but_size
            or taskqueue.bound_of((p_offer).attributes -> (p_literal).name) > (p_literal).lower
            or not (p_literal).above
               and taskqueue.bound_of((p_offer).attributes -> (p_literal).name) = (p_literal).lower)
       and ((p_literal).upper is null and (p_offer).attributes ? (p_literal).name
            or taskqueue.bound_of((p_offer).attributes -> (p_literal).name) < (p_literal).upper
            or not (p_literal).below
               and taskqueue.bound_of((p_offer).attributes -> (p_literal).name) = (p_literal).upper) end
  end, false)
$$;

comment on function taskqueue.literal_holds(taskqueue.literal, taskqueue.offer, boolean) is
  'Whether a part of a clause holds for an offer. p_but_size: whether it would hold if the resource offered more of '
  'everything, that is, without the lower bounds and the tags of processors.';
