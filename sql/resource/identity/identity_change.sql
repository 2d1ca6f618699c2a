create or replace trigger identity_change
after insert or delete or update on resource.identity
for each row execute function resource.note_changes('identity', 'role_name');

comment on trigger identity_change on resource.identity is 'Records each change and who made it, in resource.change.';
