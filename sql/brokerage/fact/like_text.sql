create or replace function brokerage.like_text(p_text text) returns text
language sql immutable parallel safe as $$
  select replace(replace(replace(p_text, E'\\', E'\\\\'), '%', E'\\%'), '_', E'\\_')
$$;

comment on function brokerage.like_text(text) is 'A pattern of like that matches exactly this text.';
