create or replace function taskqueue.require_limit_kind(p_kind text) returns void
language plpgsql immutable as $$
begin
  if p_kind is null or p_kind not in ('running', 'delay') then
    raise exception 'kind is %, which is not running or delay', coalesce(quote_literal(left(p_kind, 100)), 'null')
      using errcode = 'PB001', hint = 'Give running or delay.';
  end if;
end $$;

comment on function taskqueue.require_limit_kind(text) is
  'Refuses a kind of limit other than running (jobs at a time) or delay (seconds between two matches). Errors: PB001.';
