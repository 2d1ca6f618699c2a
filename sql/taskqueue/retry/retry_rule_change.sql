create or replace trigger retry_rule_change
after insert or delete or update on taskqueue.retry_rule
for each row execute function resource.note_changes('retry rule', 'position');

comment on trigger retry_rule_change on taskqueue.retry_rule is
  'Keeps each change together with its author (resource.change).';
