create or replace view monitor.general_config as
select c.app, c.component, c.key, c.value
  from resource.config c
 where c.setup is null;

comment on view monitor.general_config is
  'Configuration for all setups that have no value of their own. resource.config_of has the configuration that holds '
  'in a setup.';
