create or replace trigger trial_change
after insert or delete or update on brokerage.trial
for each row execute function resource.note_changes('trial', 'trial');

comment on trigger trial_change on brokerage.trial is 'Keeps each change together with its author (resource.change).';
