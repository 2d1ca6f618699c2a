-- taskqueue.note_resource for a description that is known by now; the caller says how often (shall_note_resource).
create or replace function taskqueue.note_known(
  p_setup text, p_resource jsonb, p_matched boolean, p_definition_id bigint
) returns void
language plpgsql as $$
begin
  perform taskqueue.note_resource(
    p_setup, p_resource, taskqueue.known_offer_of(p_setup, p_resource, resource.identify(p_setup)), p_matched,
    p_definition_id);
end $$;

comment on function taskqueue.note_known(text, jsonb, boolean, bigint) is
  'Notes the kind of a known description; p_matched: whether it got a job, p_definition_id: of which '
  'definition, where that is known.';
