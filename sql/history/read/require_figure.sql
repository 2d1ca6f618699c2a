create or replace function history.require_figure(p_setup text, p_figure text, p_by text, p_labels jsonb) returns void
language plpgsql stable as $$
declare
  v_names text[] := (select f.labels from history.figure f where f.figure = p_figure);
  v_wrong text;
begin
  if v_names is null then
    raise exception 'there is no figure %', coalesce(resource.shown(to_jsonb(p_figure)), 'null')
      using errcode = 'PB001',
            hint = format('Figures are %s.',
                          (select string_agg(f.figure, ', ' order by f.figure) from history.figure f));
  end if;
  if jsonb_typeof(p_labels) is distinct from 'object' then
    raise exception 'labels are %, which is not an object', coalesce(resource.shown(p_labels), 'null')
      using errcode = 'PB001', hint = 'For example {"site": "CERN"}.';
  end if;
  v_wrong := (select l from (select p_by union all select jsonb_object_keys(p_labels)) u (l)
               where l <> all (v_names) limit 1);
  if v_wrong is not null then
    raise exception 'figure % has no label %', p_figure, resource.shown(to_jsonb(v_wrong))
      using errcode = 'PB001', hint = format('It has %s.', array_to_string(v_names, ' and '));
  end if;
end $$;

comment on function history.require_figure(text, text, text, jsonb) is
  'Refuses a figure that does not exist, and labels that the figure does not have. Errors: PB001.';
