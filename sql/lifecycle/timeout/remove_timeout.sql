create or replace function lifecycle.remove_timeout(p_setup text, p_rule text) returns boolean
language plpgsql security definer set search_path = lifecycle, pg_temp as $$
begin
  perform resource.identify(p_setup);
  delete from lifecycle.own_timeout t where t.setup = p_setup and t.rule = p_rule;
  return found;
end $$;

comment on function lifecycle.remove_timeout(text, text) is
  'Removes a timeout that lifecycle.set_timeout added; false if there is no such timeout. Errors: PB002 (setup not '
  'granted).';
