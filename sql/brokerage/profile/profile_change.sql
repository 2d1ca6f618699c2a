create or replace trigger profile_change
after insert or delete or update on brokerage.profile
for each row execute function resource.note_changes('profile', 'profile');

comment on trigger profile_change on brokerage.profile is
  'Keeps each change together with its author (resource.change).';
