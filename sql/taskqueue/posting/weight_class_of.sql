-- DRAWING.md, Posting lists: four weight classes to a factor of two. A priority is at least 84 % of its upper bound,
-- and one draw in twelve is rejected.
create or replace function taskqueue.weight_class_of(p_priority float8) returns int
language sql immutable as $$
  select ceil(4 * ln(p_priority) / ln(2::float8))::int
$$;

comment on function taskqueue.weight_class_of(float8) is
  'The weight class of a priority. A posting list (taskqueue.posting_list) keeps its TaskQueues by weight class.';
