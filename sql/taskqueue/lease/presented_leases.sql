-- LEASES.md, Attempts: leases are locked in the order of ids, and one whose attempt is another is not waited for. A job
-- that stands in a call twice goes alone (taskqueue.report_job, finish_job), like everything that is not found here.
create or replace function taskqueue.presented_leases(
  p_setup text, p_elements jsonb, p_key text, p_default text, p_wishes text[]
) returns taskqueue.presented[]
language plpgsql as $$
declare
  v_subject text := (resource.subject()).name;
  v_is_service boolean := resource.is_service();
begin
  if not v_is_service then
    perform resource.call_for((select min(e.element ->> 'subject') from jsonb_array_elements(p_elements) e (element)));
  end if;
  return array(
    select (l.o, e.wish, e.subject)::taskqueue.presented
      from (select r.job_id, min(r.attempt) as attempt, min(r.attempt_number) as attempt_number,
                   coalesce(min(r.subject), v_subject) as subject,
                   min(case when r.element ? p_key then r.element ->> p_key else p_default end) as wish
              from (select j.element, (j.element ->> 'job_id')::bigint as job_id, j.element ->> 'attempt' as attempt,
                           (j.element ->> 'attempt_number')::int as attempt_number, j.element ->> 'subject' as subject
                      from jsonb_array_elements(p_elements) j (element)) r
             group by r.job_id
            having count(*) = 1
             order by r.job_id) e
     cross join lateral (
       select o
         from taskqueue.lease o
        where o.setup = p_setup and o.job_id = e.job_id
          and case when e.attempt is not null then taskqueue.attempt_text(o.attempt, o.token) = e.attempt
                   else v_is_service and o.subject = e.subject
                        and o.attempt = coalesce(e.attempt_number, o.attempt) end
          for update) l
     where e.wish is null or e.wish = any (p_wishes));
end $$;

comment on function taskqueue.presented_leases(text, jsonb, text, text, text[]) is
  'The leases, locked, that the elements of a call present by their attempts, or by subject and number; with the text '
  'at p_key, p_default where there is none, if it is null or one of the wishes. Errors: PB002 (a subject, from another '
  'login than the service).';
