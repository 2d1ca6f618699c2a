create or replace trigger quarantine_change
after insert or delete or update of since, why, locks, is_automatic on taskqueue.quarantine
for each row execute function resource.note_changes('quarantine', 'kind', 'site', 'name');

comment on trigger quarantine_change on taskqueue.quarantine is
  'Keeps each change together with its author (resource.change).';
