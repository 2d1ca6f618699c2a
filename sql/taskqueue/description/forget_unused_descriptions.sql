-- Few calls note their description (taskqueue.shall_note_resource), so seen_at tells the last use only roughly: a
-- description that comes every two minutes is noted every hundred minutes on average. If one in use is forgotten, the
-- next call parses it again and, where few definitions match, searches all of them. The number p_kept bounds the table
-- if agents keep sending new descriptions.
create or replace function taskqueue.forget_unused_descriptions(p_setup text, p_now timestamptz, p_kept int)
returns bigint
language plpgsql as $$
declare
  v_forgotten bigint;
begin
  delete from taskqueue.parsed_description k where k.ctid = any (array(
    select i.ctid from taskqueue.parsed_description i
     where i.setup = p_setup
       and (i.seen_at < greatest(p_now - interval '1 day',
                                 (select o.seen_at from taskqueue.parsed_description o
                                   where o.setup = p_setup and o.seen_at is not null
                                   order by o.seen_at desc offset p_kept - 1 limit 1))) is not false
       for update skip locked));
  get diagnostics v_forgotten = row_count;
  return v_forgotten;
end $$;

comment on function taskqueue.forget_unused_descriptions(text, timestamptz, int) is
  'Forgets the parsed descriptions that were not noted for a day before p_now, and all but the p_kept that were noted '
  'last; returns how many. Locked ones stay.';
