-- The seed of one call. Not from random(): an agent could set that with setseed().
create or replace function taskqueue.new_seed() returns bigint
language sql volatile
as $$
  select uuid_hash_extended(gen_random_uuid(), 0)
$$;

comment on function taskqueue.new_seed() is 'A random seed for the draws of one call.';
