create or replace trigger setup_on_a_front before insert on resource.setup
  for each row execute function resource.refuse_setup();

comment on trigger setup_on_a_front on resource.setup is 'A front holds no setups.';
