create or replace trigger platform_compatibility_change
after insert or delete on taskqueue.platform_compatibility
for each row execute function resource.note_changes('compatible platform', 'offered', 'accepted');

comment on trigger platform_compatibility_change on taskqueue.platform_compatibility is
  'Keeps each change together with its author (resource.change).';
