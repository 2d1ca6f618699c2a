create or replace trigger error_class_change
after insert or delete or update on taskqueue.error_class
for each row execute function resource.note_changes('error class', 'position');

comment on trigger error_class_change on taskqueue.error_class is
  'Keeps each change together with its author (resource.change).';
