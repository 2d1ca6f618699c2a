create or replace trigger cpu_bucket_change
after insert or delete on taskqueue.cpu_bucket
for each row execute function resource.note_changes('CPU bucket', 'cpu_time');

comment on trigger cpu_bucket_change on taskqueue.cpu_bucket is
  'Keeps each change together with its author (resource.change).';
