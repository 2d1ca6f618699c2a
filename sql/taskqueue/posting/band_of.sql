-- Four bands to an octave: a queue has at least 84 % of its band's ceiling, and one draw in
-- twelve is thinned out in vain.
create or replace function taskqueue.band_of(p_priority float8) returns int
language sql immutable
as $$
  select ceil(4 * ln(p_priority) / ln(2::float8))::int
$$;

comment on function taskqueue.band_of(float8) is
  'The band of priorities that a queue is listed in (taskqueue.posting_list).';
