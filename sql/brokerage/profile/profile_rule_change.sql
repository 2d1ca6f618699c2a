create or replace trigger profile_rule_change
after insert or delete or update on brokerage.profile_rule
for each row execute function resource.note_changes('rule', 'profile', 'algorithm', 'rule');

comment on trigger profile_rule_change on brokerage.profile_rule is
  'Keeps each change together with its author (resource.change).';
