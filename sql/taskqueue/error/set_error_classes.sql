-- ENDS.md, Classes of errors.
create or replace function taskqueue.set_error_classes(p_setup text, p_rows jsonb) returns void
language plpgsql security definer set search_path = taskqueue, pg_temp as $$
declare
  v_row record;
  v_problem text;
  v_rows taskqueue.error_class[] := array[]::taskqueue.error_class[];
begin
  perform resource.identify(p_setup);
  perform resource.check_keys('error class', p_rows, '{"position": "an integer of 32 bits", "source": "a text",
    "code_from": "an integer of 32 bits", "code_to": "an integer of 32 bits", "pattern": "a text", "class": "a text"}');
  if jsonb_array_length(p_rows) > 1000
     or jsonb_array_length(jsonb_path_query_array(p_rows, '$[*].pattern ? (@ != null)')) > 100 then
    raise exception '% error classes, % of them with a pattern', jsonb_array_length(p_rows),
      jsonb_array_length(jsonb_path_query_array(p_rows, '$[*].pattern ? (@ != null)'))
      using errcode = 'PB001', hint = 'A setup has at most 1,000 error classes, and at most 100 with a pattern.';
  end if;
  for v_row in
    select r.position::int, r.source, r.code_from::int, r.code_to::int, r.pattern, r.class, e.n,
           count(*) over (partition by r.position) as same
      from jsonb_array_elements(p_rows) with ordinality e (row, n)
     cross join lateral jsonb_to_record(e.row) as r (position numeric, source text, code_from numeric, code_to numeric,
                                                     pattern text, class text)
     order by e.n
  loop
    v_problem := case
      when v_row.position is null then 'position is null'
      when v_row.same > 1 then 'the position is given twice'
      when v_row.class ~ '^[a-z0-9_-]{1,30}$' is not true
      then format('class is %s, not 1 to 30 of a-z, 0-9, _ and -',
                  coalesce(resource.shown(to_jsonb(v_row.class)), 'null'))
      when coalesce(v_row.source, v_row.pattern, v_row.code_from::text, v_row.code_to::text) is null
      then 'it has neither source nor code_from, code_to or pattern'
      else taskqueue.error_test_fault(v_row.source, v_row.code_from, v_row.code_to, v_row.pattern)
      end;
    if v_problem is not null then
      raise exception 'error class %: %', coalesce('at position ' || v_row.position, 'number ' || v_row.n), v_problem
        using errcode = 'PB001',
              hint = 'A class is {"position": 10, "source": "pilot", "code_from": 1305, "code_to": 1306, "pattern": '
                     '"no space", "class": "node"}; each position is there once. A pattern is a regular expression '
                     'of at most 200 characters that is compiled and searched within 10 ms.';
    end if;
    v_rows := v_rows || row(p_setup, v_row.position, v_row.source, v_row.code_from, v_row.code_to, v_row.pattern,
                            v_row.class)::taskqueue.error_class;
  end loop;
  perform taskqueue.enter_setup(p_setup);
  perform taskqueue.require_setup(p_setup);
  perform from taskqueue.setting s where s.setup = p_setup for no key update;  -- one change at a time
  select r.position, r.name, c.class into v_row
    from taskqueue.retry_rule r
   cross join lateral unnest(r.classes) c (class)
   where r.setup = p_setup and c.class <> all (array(select n.class from unnest(v_rows) n))
     and c.class not in (select s.class from taskqueue.shipped_class s)
   order by r.position limit 1;
  if found then
    raise exception 'no error class has the class %, which the retry rule % at position % names', v_row.class,
      v_row.name, v_row.position
      using errcode = 'PB001', hint = 'Change the retry rules first (taskqueue.set_retry_rules).';
  end if;
  delete from taskqueue.error_class c
   where c.setup = p_setup and c.position not in (select r.position from unnest(v_rows) r);
  insert into taskqueue.error_class as c
  select r.* from unnest(v_rows) r
  on conflict (setup, position) do update
     set source = excluded.source, code_from = excluded.code_from, code_to = excluded.code_to,
         pattern = excluded.pattern, class = excluded.class;
end $$;

comment on function taskqueue.set_error_classes(text, jsonb) is
  'Sets the classes of errors of a setup in place of the earlier ones, by an array of {position, source, code_from, '
  'code_to, pattern, class}; an empty array leaves the shipped classes. Errors: PB001, PB002 (setup not granted).';
