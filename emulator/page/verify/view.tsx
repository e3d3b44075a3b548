import type { ClientVerdict, Verification } from '@emulator/admin/verify.js';
import { post } from '../api/client.js';
import { useTitle } from '../components/hooks.js';
import { Empty, Failure, Loading, useLoaded } from '../components/loaded.js';
import { markedText } from '../components/marked-text.js';
import { count } from '../components/time.js';
import { place, writePlace } from '../place.js';
import { RuleDetails, UnseenRules } from './rule-details.js';
import { VerdictTable } from './verdict-table.js';
import { clientsOf, isClientLeftOut, summaryClass } from './verdicts.js';

/**
 * Section of the web page that shows the rules of the specification for HTTP clients, and the result for each client.
 * The subject (claim `sub`) of its token identifies a client.
 */
export function View() {
  const wanted = place.value.params.rule;
  useTitle(wanted === undefined ? 'Verify' : `Verify: ${markedText(wanted)}`);
  const { value, error, reload } = useLoaded(() => post<Verification>('verify', { client: true }), []);
  return (
    <>
      <div class="toolbar">
        <h1 class="grow">Verify</h1>
        <button type="button" onClick={reload}>
          Verify again
        </button>
      </div>
      <p>
        Rules of the specification for clients, evaluated with the requests in the journal. In a test:{' '}
        <code>npx emulator verify --client</code>
      </p>
      <Loading value={value} error={error} />
      {value && <Verdicts rules={value.client} wanted={wanted} />}
    </>
  );
}

interface VerdictsProps {
  readonly rules: readonly ClientVerdict[];
  /** Id of the rule whose details the address names; undefined if none. */
  readonly wanted: string | undefined;
}

function Verdicts({ rules, wanted }: VerdictsProps) {
  const clients = clientsOf(rules);
  const withVerdict = (verdict: ClientVerdict['verdict']) => rules.filter((rule) => rule.verdict === verdict);
  const [kept, broken, unseen] = [withVerdict('kept'), withVerdict('broken'), withVerdict('unseen')];
  return (
    <>
      <p role="status" class={summaryClass(rules)}>
        {count(kept.length)} {kept.length === 1 ? 'rule' : 'rules'} kept, {count(broken.length)} broken,{' '}
        {count(unseen.length)} not applicable
      </p>
      {wanted !== undefined && !rules.some(({ rule }) => rule === wanted) && (
        <Failure error={`The client rule ${JSON.stringify(wanted)} is unknown. Choose a rule below.`} />
      )}
      {clients.length === 0 ? (
        <Empty title="No rule was applicable yet">
          <p>
            Most rules concern what a client does after a refusal. Open <a href={writePlace('requests')}>a request</a>,
            make it fail next time, let your client send it again, and come back.
          </p>
        </Empty>
      ) : (
        <VerdictTable clients={clients} rules={rules.filter(({ verdict }) => verdict !== 'unseen')} />
      )}
      {isClientLeftOut(rules) && <p class="quiet">The emulator reports only the first clients of each rule.</p>}
      {[...broken, ...kept].map((rule) => (
        <RuleDetails key={rule.rule} rule={rule} isWanted={rule.rule === wanted} />
      ))}
      {unseen.length > 0 && <UnseenRules rules={unseen} wanted={wanted} />}
    </>
  );
}
