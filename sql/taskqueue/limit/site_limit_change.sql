create or replace trigger site_limit_change
after insert or delete or update of ceiling, delay, burst on taskqueue.site_limit
for each row execute function resource.note_changes('limit', 'kind', 'site', 'grid_ce', 'attribute', 'value');

comment on trigger site_limit_change on taskqueue.site_limit is
  'Keeps each change together with its author (resource.change).';
