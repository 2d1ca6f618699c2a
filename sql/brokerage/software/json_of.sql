-- The function is not parallel safe, since the handler is a subtransaction (IS JSON needs PostgreSQL 16).
create or replace function brokerage.json_of(p_text text) returns jsonb
language plpgsql stable as $$
begin
  return p_text::jsonb;
exception when data_exception or program_limit_exceeded or statement_too_complex then
  return null;
end $$;

comment on function brokerage.json_of(text) is 'A text as JSON; null if it is not JSON, or if jsonb cannot store it.';
