-- taskqueue.condition shows this text. Null means no condition; an empty array means that nothing is offered.
create or replace function taskqueue.offered_text(p_values text[]) returns text
language sql stable as $$
  select case when cardinality(p_values) = 0 then 'offers none' else array_to_string(p_values, ', ') end
$$;

comment on function taskqueue.offered_text(text[]) is 'An offered value as text.';
