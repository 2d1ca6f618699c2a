-- See DRAWING.md, Guarantees of the draw. The draw is a hash of the id under the seed of the call. So a seed gives the
-- same outcome whatever the plan is, a TaskQueue found through two sites has one draw, and each candidate keeps its
-- draw while others are skipped. The id is hashed twice: after one hash the draws of neighbouring ids correlate (by up
-- to 0.12), and chances of 2:1 came out as 1.65:1. hashint8extended folds the halves of an id together (5 and 2^32 + 4
-- would have the same draw), so the upper half goes into the seed. The expression has so few operators that the planner
-- inlines it where it is used twice (taskqueue.draw_key), which saves 1.3 us per draw.
create or replace function resource.draw(p_id bigint, p_seed bigint) returns float8
language sql immutable as $$
  select ((hashint8extended(hashint8extended(p_id, p_seed # (p_id >> 32)), p_seed)
           & 9007199254740991) + 0.5::float8) / 9007199254740992.0::float8
$$;

comment on function resource.draw(bigint, bigint) is
  'A uniform number within (0, 1): the draw of a candidate under a seed.';
