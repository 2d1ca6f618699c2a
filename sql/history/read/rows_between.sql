create or replace function history.rows_between(
  p_setup text, p_since timestamptz, p_until timestamptz, p_width interval
) returns setof history.sample
language plpgsql stable as $$
declare
  v_from timestamptz := date_bin(p_width, p_since, 'epoch');
  v_until timestamptz := date_bin(p_width, p_until - interval '1 microsecond', 'epoch') + p_width;
  v_step interval;
begin
  for v_step in
    select s from unnest('{1 day,1 hour,5 minutes,1 minute}'::interval[]) s where s <= p_width order by s desc
  loop
    return query select s.* from history.sample s
                  where s.setup = p_setup and s.step = v_step and s.at >= v_from and s.at < v_until;
    v_from := greatest(v_from, (select max(s.at) + v_step from history.sample s
                                 where s.setup = p_setup and s.step = v_step and s.at < v_until));
  end loop;
end $$;

comment on function history.rows_between(text, timestamptz, timestamptz, interval) is
  'Samples of the spans of a width from that of p_since to that of p_until. No sample is contained in another: samples '
  'have the longest step that is not longer than p_width, and beyond the last of them shorter steps.';
