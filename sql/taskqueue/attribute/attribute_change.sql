create or replace trigger attribute_change
after insert or update or delete on taskqueue.attribute
for each row execute function resource.note_changes('attribute', 'name');

comment on trigger attribute_change on taskqueue.attribute is
  'Keeps each change together with its author (resource.change).';
