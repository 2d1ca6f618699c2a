-- No form of an expression tells how long it takes, so it is tried: on letters, and on a text of its own characters. An
-- expression that was compiled is kept for each collation, so both turns compile it, and the shorter one counts: the
-- machine may be busy in the other.
create or replace function taskqueue.pattern_time(p_pattern text) returns float8
language plpgsql as $$
declare
  v_own text := left(repeat(p_pattern, 200), 200);
  v_began timestamptz := clock_timestamp();
  v_turned timestamptz;
begin
  perform repeat('a', 200) collate "C" ~ p_pattern, v_own collate "C" ~ p_pattern;
  v_turned := clock_timestamp();
  perform repeat('a', 200) collate "POSIX" ~ p_pattern, v_own collate "POSIX" ~ p_pattern;
  return 1000 * extract(epoch from least(v_turned - v_began, clock_timestamp() - v_turned));
end $$;

comment on function taskqueue.pattern_time(text) is
  'The time that a regular expression takes to compile and to search two texts of 200 characters, ms.';
