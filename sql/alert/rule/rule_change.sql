create or replace trigger rule_change
after insert or delete or update on alert.rule
for each row execute function resource.note_changes('alert rule', 'rule');

comment on trigger rule_change on alert.rule is 'Records each change and who made it, in resource.change.';
