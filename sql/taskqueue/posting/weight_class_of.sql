-- DRAWING.md, Posting lists: four classes of priorities to a factor of two, and four of numbers of siblings. The class
-- of the priority is in the bits above the lowest seven, the class of the siblings in these seven.
create or replace function taskqueue.weight_class_of(p_priority float8, p_siblings int) returns int
language sql immutable as $$
  select (ceil(4 * ln(p_priority) / ln(2::float8))::int << 7) + floor(4 * ln(p_siblings::float8) / ln(2::float8))::int
$$;

comment on function taskqueue.weight_class_of(float8, int) is
  'The weight class of a priority and a number of siblings. A posting list (taskqueue.posting_list) keeps its '
  'TaskQueues by weight class.';
