-- Texts from agents and submitters are measured before they are parsed, since a description of 18 MB took 19 s. The
-- calls on the hot path test only texts of more than 4 kB, the lowest limit that a setup can have. A setup without
-- settings has the defaults of the table.
create or replace function taskqueue.require_within(p_setup text, p_setting text, p_key text, p_count bigint)
returns void
language plpgsql stable as $$
declare
  v_limit bigint;
begin
  select case p_setting when 'most_names' then coalesce(max(s.most_names), 1000)
                        when 'description_size' then coalesce(max(s.description_size), 65536)
                        when 'requirements_size' then coalesce(max(s.requirements_size), 262144)
                        when 'payload_size' then coalesce(max(s.payload_size), 65536)
                        when 'batch_size' then coalesce(max(s.batch_size), 67108864)
                        when 'reason_size' then coalesce(max(s.reason_size), 1000) end
    into v_limit
    from taskqueue.setting s
   where s.setup = p_setup;
  if p_count > v_limit then
    raise exception '% %, more than %', p_key,
      format(case p_setting when 'most_names' then 'lists %s names' else 'has %s bytes' end, p_count), v_limit
      using errcode = 'PB001',
            hint = format('The setting %s of the setup is %s; an operator changes it with taskqueue.set_settings.',
                          p_setting, v_limit);
  end if;
end $$;

comment on function taskqueue.require_within(text, text, text, bigint) is
  'Refuses an argument (p_key names it) with more bytes or names than a setting of the setup allows. Errors: PB001.';
