create or replace function taskqueue.require_quarantine(p_kind text, p_site text, p_name text) returns void
language plpgsql immutable as $$
begin
  if p_kind in ('host', 'ce', 'site') is not true then
    raise exception 'kind is %, not host, ce or site', coalesce(resource.shown(to_jsonb(p_kind)), 'null')
      using errcode = 'PB001', hint = 'host: a worker node; ce: a computing element; site: a whole site.';
  elsif p_kind <> 'host' and coalesce(p_site, '') = '' then
    raise exception 'site is %', coalesce(quote_literal(p_site), 'null')
      using errcode = 'PB001', hint = 'Name the site. Only a worker node may be without a site.';
  elsif p_kind = 'site' and p_name <> p_site then
    raise exception 'name is %, but the site is %', resource.shown(to_jsonb(p_name)), resource.shown(to_jsonb(p_site))
      using errcode = 'PB001', hint = 'For a site, leave the name out.';
  elsif p_kind <> 'site' and coalesce(p_name, '') = '' then
    raise exception 'name is %', coalesce(quote_literal(p_name), 'null')
      using errcode = 'PB001', hint = 'Name the worker node or the computing element.';
  end if;
  perform resource.require_short('site', p_site, 800);
  perform resource.require_short('name', p_name, 1020);
  if p_kind = 'host' and length(p_name) > 255 then
    raise exception 'name is %', resource.shown(to_jsonb(p_name))
      using errcode = 'PB001', hint = 'HostName of a request has at most 255 characters.';
  end if;
end $$;

comment on function taskqueue.require_quarantine(text, text, text) is
  'Refuses a wrong kind, site or name of a quarantine. Errors: PB001.';
