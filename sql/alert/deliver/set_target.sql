-- The header is a secret: the record of a change does not contain it.
create or replace function alert.set_target(p_setup text, p_target text, p_changes jsonb) returns void
language plpgsql security definer set search_path = alert, pg_temp as $$
declare
  v_column text;
  v_constraint text;
  v_before alert.target;
  v_after alert.target;
begin
  perform resource.identify(p_setup);
  perform resource.require_setup(p_setup);
  p_changes := resource.check_settings('alert.target', p_changes)
               || resource.check_settings('alert.target', jsonb_build_object('target', p_target));
  perform pg_advisory_xact_lock(hashtext('alert.set_target'), hashtext(p_setup));
  select t.* into v_before from alert.target t where t.setup = p_setup and t.target = p_target;
  v_after := jsonb_populate_record(
    case when v_before.setup is null then null else v_before end,
    case when v_before.setup is null
         then jsonb '{"enabled": true, "least_severity": "info", "repeat_after": "4 hours"}' else '{}' end
    || jsonb_build_object('setup', p_setup) || p_changes);
  if v_before = v_after then
    return;
  end if;
  insert into alert.target select v_after.*
      on conflict (setup, target) do update
     set (enabled, kind, address, header, least_severity, repeat_after) =
         (select v_after.enabled, v_after.kind, v_after.address, v_after.header, v_after.least_severity,
                 v_after.repeat_after);
  perform resource.note_change(
    p_setup, 'alert target', p_target, to_jsonb(v_before) - '{setup,target,header}'::text[],
    to_jsonb(v_after) - '{setup,target,header}'::text[]
    || case when v_before.header is distinct from v_after.header then '{"header": "changed"}' else jsonb '{}' end);
exception
  when check_violation or not_null_violation then
    get stacked diagnostics v_column = column_name, v_constraint = constraint_name;
    raise exception 'target % %', p_target, resource.violation_of('alert.target', v_column, v_constraint, sqlerrm)
      using errcode = 'PB001',
            hint = 'A target needs a kind and an address: {"kind": "mail", "address": "shifter@example.org"}, or '
                   '{"kind": "webhook", "address": "https://chat.example.org/hook"}.';
end $$;

comment on function alert.set_target(text, text, jsonb) is
  'Adds a target that alerts are sent to, or changes one. The argument is an object of columns of alert.target; '
  'columns that are not given keep their values. Errors: PB001 (a key or a value that does not fit), PB002 (setup not '
  'granted).';
