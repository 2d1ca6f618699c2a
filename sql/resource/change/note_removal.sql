create or replace function resource.note_removal(p_setup text) returns void
language plpgsql as $$
begin
  delete from resource.change c where c.setup = p_setup;
  perform resource.note_change(p_setup, 'setup', p_setup, '{}', null);
end $$;

comment on function resource.note_removal(text) is
  'Deletes the recorded changes of a setup that was removed, and records the removal and who made it.';
