import type { ClientVerdict } from '@emulator/admin/verify.js';
import { type Column, Table } from '../components/table.js';
import { count } from '../components/time.js';
import { writePlace } from '../place.js';
import { ClientName } from './client-name.js';
import { showRule } from './rule-details.js';
import { verdictFor } from './verdicts.js';

/** Number of clients that the table shows at first. */
const MAX_CLIENTS = 20;

export interface VerdictTableProps {
  /** Subjects (claim `sub`) of the clients; null stands for clients without a token. */
  readonly clients: readonly (string | null)[];
  /** Rules that applied to at least one client. */
  readonly rules: readonly ClientVerdict[];
}

/** Table of the results: a row for each client, a column for each rule. Each result links to the details of the rule. */
export function VerdictTable({ clients, rules }: VerdictTableProps) {
  return (
    <Table
      label="Clients and rules"
      hasRowHeads
      class="verdicts"
      items={clients}
      most={MAX_CLIENTS}
      keyOf={(client) => JSON.stringify(client)}
      columns={[
        ['Client', (client) => <ClientName key="client" subject={client} />],
        ...rules.map(
          (rule): Column<string | null> => [
            <code key="rule" title={rule.title}>
              {rule.rule}
            </code>,
            (client) => <Verdict rule={rule} client={client} />,
          ],
        ),
      ]}
    />
  );
}

function Verdict({ rule, client }: { readonly rule: ClientVerdict; readonly client: string | null }) {
  const found = verdictFor(rule, client);
  if (found === undefined) {
    return (
      <span class="quiet">
        <span aria-hidden="true">–</span>
        <span class="visually-hidden">not applicable</span>
      </span>
    );
  }
  const { verdict, occasions, broken } = found;
  const isKept = verdict === 'kept';
  return (
    <a
      class={`figures ${isKept ? 'passed' : 'failed'}`}
      href={writePlace('verify', { rule: rule.rule })}
      title={rule.title}
      onClick={() => showRule(rule.rule)}
    >
      {isKept ? `✓ kept ${count(occasions)}` : `✕ broken ${count(broken)} of ${count(occasions)}`}
    </a>
  );
}
