create or replace function resource.require_own(p_what text, p_setups text[]) returns void
language plpgsql stable as $$
declare
  v_setup text := resource.bound_setup();
  v_others bigint;
begin
  if v_setup is not null then
    select count(distinct s) into v_others from unnest(p_setups) s where s <> v_setup;
    if v_others > 0 then
      raise exception '% is shared: % by it', p_what,
        case v_others when 1 then '1 other setup decides' else v_others || ' other setups decide' end
        using errcode = 'PB002',
              hint = 'Change a copy that your setup alone uses, or ask an operator with a login of the database.';
    end if;
  end if;
end $$;

comment on function resource.require_own(text, text[]) is
  'Refuses a caller through the service a change by which another of these setups would decide; other setups are '
  'counted, and not named. Errors: PB002.';
