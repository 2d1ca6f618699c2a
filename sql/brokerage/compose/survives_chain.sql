-- analysis-candidates.md, anal-loops: the chain of filters ends at the rule of kind second pass. A queue that a later
-- rule rejects has survived the chain.
create or replace function brokerage.survives_chain(p_failed text, p_marked text, p_late text[], p_temporary text[])
returns boolean
language sql immutable parallel safe as $$
  select case
    when p_failed is null or p_failed ^@ any (p_late) then p_marked is null or p_marked ^@ any (p_late)
    when p_failed ^@ any (p_temporary) then false
  end
$$;

comment on function brokerage.survives_chain(text, text, text[], text[]) is
  'Whether a pair of the relation judged (failed, marked) survives the filters before the second pass: true if it '
  'does, false if it does but has a problem that may pass by itself, null if it does not. p_late and p_temporary: '
  'beginnings of the reasons of the rules behind the second pass, and of the temporary rules before it.';
