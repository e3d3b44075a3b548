import type { ClientVerdict, Verification } from '@emulator/admin/verify.js';
import { post } from '../api/client.js';
import { Given } from '../components/given.js';
import { Empty, Loading, useLoaded } from '../components/loaded.js';
import { type Column, Table } from '../components/table.js';
import { count } from '../components/time.js';
import { writePlace } from '../place.js';
import { clientsOf, summaryClass, verdictFor } from './verdicts.js';

/**
 * Section of the web page that shows the rules of the specification for HTTP clients, and the result for each client.
 * The subject (claim `sub`) of its token identifies a client.
 */
export function View() {
  const { value, error, reload } = useLoaded(() => post<Verification>('verify', { client: true }), []);
  return (
    <>
      <div class="toolbar">
        <h1 class="grow">Client rules</h1>
        <button type="button" onClick={reload}>
          Verify again
        </button>
      </div>
      <p>
        Rules of the specification for clients, evaluated with the requests in the journal. In a test:{' '}
        <code>npx emulator verify --client</code>
      </p>
      <Loading value={value} error={error} />
      {value && <Verdicts rules={value.client} />}
    </>
  );
}

function Verdicts({ rules }: { readonly rules: readonly ClientVerdict[] }) {
  const clients = clientsOf(rules);
  const kept = rules.filter(({ verdict }) => verdict === 'kept');
  const broken = rules.filter(({ verdict }) => verdict === 'broken');
  return (
    <>
      <p role="status" class={summaryClass(rules)}>
        {count(kept.length)} kept, {count(broken.length)} broken, {count(rules.length - kept.length - broken.length)}{' '}
        not applicable
      </p>
      {clients.length === 0 && (
        <Empty title="No rule was applicable yet">
          <p>
            Most rules concern what a client does after a refusal. Open <a href={writePlace('requests')}>a request</a>,
            make it fail next time, let your client send it again, and come back.
          </p>
        </Empty>
      )}
      {broken.length > 0 && <Broken rules={broken} />}
      <h2>Rules</h2>
      <Table
        label="Rules"
        hasRowHeads
        class="verdicts"
        items={rules}
        keyOf={({ rule }) => rule}
        columns={[
          [
            'Rule',
            ({ rule, level, title, source }) => (
              <>
                <code>{rule}</code> <span class="quiet level">{level}</span>
                <div class="rule-title" title={source}>
                  {title}
                </div>
              </>
            ),
          ],
          ...clients.map(
            (client): Column<ClientVerdict> => [
              <Client key="client" subject={client} />,
              (rule) => <Verdict rule={rule} client={client} />,
            ],
          ),
        ]}
      />
    </>
  );
}

function Client({ subject }: { readonly subject: string | null }) {
  return subject === null ? <span class="quiet">no token</span> : <Given text={subject} most={60} />;
}

function Verdict({ rule, client }: { readonly rule: ClientVerdict; readonly client: string | null }) {
  const found = verdictFor(rule, client);
  if (found === undefined) return <span class="quiet">–</span>;
  const { verdict, occasions, broken } = found;
  return verdict === 'kept' ? (
    <span class="passed figures">✓ kept {count(occasions)}</span>
  ) : (
    <span class="failed figures">
      ✕ broken {count(broken)} of {count(occasions)}
    </span>
  );
}

/** List of the requests that broke a client rule of the specification, grouped by rule. */
function Broken({ rules }: { readonly rules: readonly ClientVerdict[] }) {
  return (
    <>
      <h2>Requests that broke a rule</h2>
      {rules.map(({ rule, title, source, level, faults, clients }) => {
        const total = clients.reduce((sum, { broken }) => sum + broken, 0);
        return (
          <section key={rule} class="card" aria-label={rule}>
            <h3>
              <code>{rule}</code> <span class="quiet">{level}</span> {title}
            </h3>
            <p class="quiet">{source}</p>
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
                  by <Client subject={subject ?? null} />: <Given text={detail} />
                </li>
              ))}
            </ul>
            {total > faults.length && (
              <p class="quiet">
                the first {count(faults.length)} of {count(total)}
              </p>
            )}
          </section>
        );
      })}
    </>
  );
}
