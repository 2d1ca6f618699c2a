create or replace function taskqueue.require_reason(p_setup text, p_reason text) returns void
language plpgsql stable as $$
begin
  if p_reason is null or p_reason = '' then
    raise exception 'reason is %', coalesce(quote_literal(p_reason), 'null')
      using errcode = 'PB001', hint = 'Give the reason; it is shown to everybody whom it concerns.';
  end if;
  perform taskqueue.require_within(p_setup, 'reason_size', 'reason', octet_length(p_reason));
end $$;

comment on function taskqueue.require_reason(text, text) is
  'Refuses a cancellation or a quarantine whose reason is missing or too long. Errors: PB001.';
