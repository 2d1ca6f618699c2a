-- A null value suits every kind; the constraint NOT NULL of the table refuses it where necessary.
create or replace function resource.suits(p_kind text, p_value jsonb) returns boolean
language sql immutable parallel safe as $$
  select case when jsonb_typeof(p_value) = 'null' or p_kind = 'JSON' then true
              when p_kind = 'a text' then jsonb_typeof(p_value) = 'string'
              when p_kind = 'a time'
              then jsonb_typeof(p_value) = 'string'
                   and p_value #>> '{}' ~* '^(?!0000)([0-9]{4}-((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])'
                     '|(0[469]|11)-(0[1-9]|[12][0-9]|30)|02-(0[1-9]|1[0-9]|2[0-8]))'
                     '|([0-9]{2}(0[48]|[2468][048]|[13579][26])|([02468][048]|[13579][26])00)-02-29)'
                     '([T ]([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9]([.][0-9]+)?)?)?'
                     ' ?([+-](0[0-9]|1[0-5])(:?[0-5][0-9])?|Z|UTC)?$'
              when p_kind = 'a number' then jsonb_typeof(p_value) = 'number'
              when p_kind = 'true or false' then jsonb_typeof(p_value) = 'boolean'
              when p_kind = 'an array of texts'
              then jsonb_typeof(p_value) = 'array' and not jsonb_path_exists(p_value, '$[*] ? (@.type() != "string")')
              when p_kind = 'an object of texts'
              then jsonb_typeof(p_value) = 'object' and not jsonb_path_exists(p_value, '$.* ? (@.type() != "string")')
              when jsonb_typeof(p_value) <> 'number' then false
              else trunc(p_value::numeric) = p_value::numeric
                   and abs(p_value::numeric + 0.5) < case p_kind when 'an integer of 16 bits' then 32768
                                                                 when 'an integer of 32 bits' then 2147483648
                                                                 else 9223372036854775808 end end
$$;

comment on function resource.suits(text, jsonb) is
  'Whether a JSON value is of a kind that resource.table_column names: a text, a number, an integer, true or false, an '
  'array or object of texts, or a time (ISO 8601, within the years 1 to 9999).';
