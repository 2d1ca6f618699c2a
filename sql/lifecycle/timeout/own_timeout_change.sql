create or replace trigger own_timeout_change
after insert or delete or update on lifecycle.own_timeout
for each row execute function resource.note_changes('timeout', 'rule');

comment on trigger own_timeout_change on lifecycle.own_timeout is
  'Keeps each change together with its author (resource.change).';
