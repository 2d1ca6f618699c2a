create or replace trigger task_limit_change
after insert or delete or update on instance.task_limit
for each row execute function resource.note_changes('limit of instances', 'task_id');

comment on trigger task_limit_change on instance.task_limit is
  'Keeps each change together with its author (resource.change).';
