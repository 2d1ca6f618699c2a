-- The seed of one call.
create or replace function taskqueue.new_seed() returns bigint
language sql volatile
as $$
  select ((random() - 0.5) * 9007199254740992)::bigint
$$;

comment on function taskqueue.new_seed() is 'A random seed for the draws of one call.';
