create or replace function resource.revoke_tokens(p_setup text, p_name text) returns bigint
language plpgsql security definer set search_path = resource, pg_temp as $$
declare
  v_gone jsonb;
begin
  perform resource.identify(p_setup);
  with gone as (
    delete from resource.access_token t where t.setup = p_setup and t.name = p_name returning t.*
  )
  select jsonb_agg(to_jsonb(g) - 'hash') into v_gone from gone g;
  if v_gone is not null then
    perform resource.note_change(p_setup, 'token', p_name, v_gone, null);
  end if;
  return coalesce(jsonb_array_length(v_gone), 0);
end $$;

comment on function resource.revoke_tokens(text, text) is
  'Removes the opaque tokens of a name: they are refused from the next request on. Returns the number of tokens '
  'removed. Errors: PB002.';
