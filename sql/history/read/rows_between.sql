create or replace function history.rows_between(
  p_setup text, p_since timestamptz, p_until timestamptz, p_width interval
) returns setof history.sample
language plpgsql stable as $$
declare
  v_from timestamptz := date_bin(p_width, p_since, 'epoch');
  v_until timestamptz := date_bin(p_width, p_until - interval '1 microsecond', 'epoch') + p_width;
  v_step text;
begin
  foreach v_step in array case when p_width >= interval '1 day' then '{day,hour,minute}'::text[]
                               when p_width >= interval '1 hour' then '{hour,minute}' else '{minute}' end
  loop
    return query select s.* from history.sample s
                  where s.setup = p_setup and s.step = v_step and s.at >= v_from and s.at < v_until;
    v_from := greatest(v_from, (select max(s.at) + ('1 ' || v_step)::interval from history.sample s
                                 where s.setup = p_setup and s.step = v_step and s.at < v_until));
  end loop;
end $$;

comment on function history.rows_between(text, timestamptz, timestamptz, interval) is
  'Samples of the spans of a width from that of p_since to that of p_until. None is contained in another: they are the '
  'longest step that is not longer than p_width, and beyond the last of them of shorter steps.';
