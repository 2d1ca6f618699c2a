create or replace trigger setting_change
after update on brokerage.setting
for each row execute function resource.note_changes('settings');

comment on trigger setting_change on brokerage.setting is
  'Keeps each change together with its author (resource.change).';
