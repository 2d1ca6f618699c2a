-- taskqueue.note_resource for a description that is known by now, where taskqueue.shall_note_resource says so.
create or replace function taskqueue.note_known(p_setup text, p_resource jsonb, p_matched boolean) returns void
language plpgsql as $$
declare
  v_known taskqueue.known_offer := taskqueue.known_offer_of(p_setup, p_resource, resource.identify(p_setup));
begin
  if taskqueue.shall_note_resource(v_known, (v_known.offer).cpu_time, p_matched) then
    perform taskqueue.note_resource(p_setup, p_resource, v_known, p_matched);
  end if;
end $$;

comment on function taskqueue.note_known(text, jsonb, boolean) is
  'Notes the kind of a known description, a sample; p_matched: whether it got a job.';
