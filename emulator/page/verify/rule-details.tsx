import type { ClientVerdict } from '@emulator/admin/verify.js';
import { useEffect } from 'preact/hooks';
import { Given } from '../components/given.js';
import { count } from '../components/time.js';
import { writePlace } from '../place.js';
import { ClientName } from './client-name.js';

export interface RuleDetailsProps {
  readonly rule: ClientVerdict;
  /** True if the address of the page names the rule. Its details then get the focus. */
  readonly isWanted: boolean;
}

/** Scrolls to the details of a rule, and moves the focus to their heading. Does nothing if there are no details. */
export function showRule(rule: string): void {
  const heading = document.getElementById(idOf(rule));
  heading?.scrollIntoView({ block: 'start' });
  heading?.focus({ preventScroll: true });
}

function idOf(rule: string): string {
  return `rule-${rule}`;
}

/** Details of a rule that applied to a client: its title and source, and the requests that broke it. */
export function RuleDetails({ rule: verdict, isWanted }: RuleDetailsProps) {
  const { rule, title, source, level, occasions, faults, clients } = verdict;
  const total = clients.reduce((sum, { broken }) => sum + broken, 0);
  useEffect(() => {
    if (isWanted) showRule(rule);
  }, [isWanted]);
  return (
    <section class="card" aria-labelledby={idOf(rule)}>
      <h2 class="rule-head" id={idOf(rule)} tabIndex={-1}>
        <code>{rule}</code> <span class="quiet">{level}</span> {title}
      </h2>
      <p class="quiet">Source: {source}</p>
      {faults.length === 0 && <p class="passed figures">✓ kept {count(occasions)}</p>}
      {faults.length > 0 && (
        <ul class="broken">
          {faults.map(({ request, earlier, subject, detail }, index) => (
            <li key={index}>
              <a href={writePlace('requests', { id: request })}>{request}</a>
              {earlier !== undefined && (
                <>
                  {' '}
                  after <a href={writePlace('requests', { id: earlier })}>{earlier}</a>
                </>
              )}{' '}
              by <ClientName subject={subject ?? null} />: <Given text={detail} />
            </li>
          ))}
        </ul>
      )}
      {total > faults.length && (
        <p class="quiet">
          the first {count(faults.length)} of {count(total)}
        </p>
      )}
    </section>
  );
}

export interface UnseenRulesProps {
  readonly rules: readonly ClientVerdict[];
  readonly wanted: string | undefined;
}

/** Collapsed list of the rules that applied to no client. It is open if the address of the page names one of them. */
export function UnseenRules({ rules, wanted }: UnseenRulesProps) {
  return (
    <details open={rules.some(({ rule }) => rule === wanted)}>
      <summary>
        {count(rules.length)} {rules.length === 1 ? 'rule' : 'rules'} not applicable
      </summary>
      <ul class="unseen-rules">
        {rules.map(({ rule, title, source, level }) => (
          <li key={rule}>
            <code>{rule}</code> <span class="quiet">{level}</span> <span title={`Source: ${source}`}>{title}</span>
          </li>
        ))}
      </ul>
    </details>
  );
}
