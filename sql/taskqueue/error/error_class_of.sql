-- ENDS.md, Classes of errors.
create or replace function taskqueue.error_class_of(p_setup text, p_error jsonb) returns text
language plpgsql stable set enable_seqscan = off set plan_cache_mode = force_generic_plan as $$
declare
  v_error record;
  v_class text;
begin
  for v_error in
    select e.element ->> 'source' as source, (e.element ->> 'code')::numeric::bigint as code,
           coalesce(e.element ->> 'text', '') as text
      from jsonb_array_elements(p_error) with ordinality e (element, n)
     order by e.n
  loop
    select c.class into v_class
      from taskqueue.error_class c
     where c.setup = p_setup
       and taskqueue.fits_error(c.source, c.code_from, c.code_to, c.pattern, v_error.source, v_error.code,
                                v_error.text)
     order by c.position
     limit 1;
    if not found then
      select s.class into v_class
        from taskqueue.shipped_error_of(v_error.source, v_error.code, v_error.text) s;
    end if;
    if v_class is not null then
      return v_class;
    end if;
  end loop;
  return null;
end $$;

comment on function taskqueue.error_class_of(text, jsonb) is
  'The class of an error, a list of {source, code, text}: that of its first element that has one, by the classes of '
  'the setup, else by the shipped ones; null if no element has one.';
