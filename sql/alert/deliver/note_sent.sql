create or replace function alert.note_sent(p_setup text, p_notification_ids bigint[], p_error text default null)
returns bigint
language plpgsql security definer set search_path = alert, pg_temp as $$
declare
  v_count bigint;
begin
  perform resource.identify(p_setup);
  update alert.notification n
     set error = left(p_error, 1000), sent_at = case when p_error is null then now() end,
         next_at = case when p_error is null then null else n.next_at end
   where n.setup = p_setup and n.notification_id = any (p_notification_ids) and n.sent_at is null;
  get diagnostics v_count = row_count;
  return v_count;
end $$;

comment on function alert.note_sent(text, bigint[], text) is
  'Records that notifications were sent, or why they were not. Returns the number of notifications. For the loop '
  'notify. Errors: PB002 (setup not granted).';
