-- Gives a new setup its settings and the default CPU buckets (MATCHING.md, CPU buckets).
create or replace function taskqueue.require_setup(p_setup text) returns void
language plpgsql as $$
begin
  if exists (select from taskqueue.setting s where s.setup = p_setup) then
    return;
  end if;
  perform resource.require_setup(p_setup);
  insert into taskqueue.cpu_bucket (setup, cpu_time)
  select p_setup, b from unnest(taskqueue.default_cpu_buckets()) b
  on conflict do nothing;
  insert into taskqueue.setting (setup) values (p_setup) on conflict do nothing;
end $$;

comment on function taskqueue.require_setup(text) is
  'Gives a setup without settings the default ones, and the CPU buckets 500, 5000, 50000 and 300000 s. Errors: PB001.';
