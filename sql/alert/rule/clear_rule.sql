create or replace function alert.clear_rule(p_setup text, p_rule text) returns boolean
language plpgsql security definer set search_path = alert, pg_temp as $$
begin
  perform resource.identify(p_setup);
  delete from alert.rule r where r.setup = p_setup and r.rule = p_rule;
  return found;
end $$;

comment on function alert.clear_rule(text, text) is
  'Removes a rule that alert.set_rule added or changed. A rule that comes with the program holds again in its original '
  'form. Returns false if there was no such rule. Errors: PB002 (setup not granted).';
