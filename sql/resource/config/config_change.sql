create or replace trigger config_change
after insert or delete or update on resource.config
for each row execute function resource.note_changes('configuration', 'app', 'component', 'key');

comment on trigger config_change on resource.config is 'Records each change and who made it, in resource.change.';
