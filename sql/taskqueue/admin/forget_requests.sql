create or replace function taskqueue.forget_requests(p_setup text, p_now timestamptz, p_end timestamptz) returns bigint
language plpgsql as $$
declare
  v_removed bigint;
  v_all bigint := 0;
begin
  loop
    delete from taskqueue.request r where r.ctid = any (array(
      select i.ctid from taskqueue.request i
       where i.setup = p_setup and i.made_at < p_now - interval '10 minutes' limit 50000 for update skip locked));
    get diagnostics v_removed = row_count;
    v_all := v_all + v_removed;
    exit when v_removed = 0 or clock_timestamp() > p_end;
  end loop;
  return v_all;
end $$;

comment on function taskqueue.forget_requests(text, timestamptz, timestamptz) is
  'Removes the answers of request ids that are older than ten minutes, in portions until p_end by the clock of the '
  'server; returns how many.';
