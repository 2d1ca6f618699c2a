-- gen_random_uuid draws from the operating system; the secret has 244 random bits.
create or replace function resource.new_secret() returns text
language sql volatile as $$
  select replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', '')
$$;

comment on function resource.new_secret() is 'A secret that nobody can guess: 64 hexadecimal digits.';
