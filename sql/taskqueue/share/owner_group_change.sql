create or replace trigger owner_group_change
after insert or delete or update on taskqueue.owner_group
for each row execute function resource.note_changes('owner group', 'owner_group');

comment on trigger owner_group_change on taskqueue.owner_group is
  'Keeps each change together with its author (resource.change).';
