import { printable } from '../../log/log.js';
import { readAction, readValue } from '../admin-client.js';
import { adminCommand } from '../admin-command.js';
import { readJsonObject } from '../document.js';
import { writeTable } from '../table.js';
import { UsageError } from '../usage-error.js';

const ACTIONS = ['show', 'set', 'rm'] as const;
const EXAMPLE = '{"capacity":20,"refill":"10/s"}';

type Quotas = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/** Command `emulator quota`: shows or changes the quotas (request rate limits) of a running emulator. */
export const quotaCommand = adminCommand({
  name: 'quota',
  describe: 'Show or change the quotas, which limit the rate of requests: show, set NAME JSON, rm NAME',
  positionals: {
    action: 'show, set or rm; default show',
    name: 'Name of the quota',
    quota: `Quota in JSON, such as ${EXAMPLE}`,
  },
  run: async ({ action, name, quota }, client) => {
    const wanted = readAction('quota', action, ACTIONS, 'show');
    const key = readValue(`quota ${wanted}`, name, wanted === 'show' ? undefined : 'the name of a quota');
    const written = readValue(`quota ${wanted}`, quota, wanted === 'set' ? `a quota, such as ${EXAMPLE}` : undefined);
    const value =
      wanted === 'set' ? readJsonObject(written, `quota set takes a JSON object, such as ${EXAMPLE}.`) : null;
    const before = (await client.ask('GET', '/quotas')) as { quotas: Quotas };
    if (wanted === 'rm' && !Object.hasOwn(before.quotas, key)) {
      throw new UsageError(
        `The quota ${JSON.stringify(key)} does not exist. \`emulator quota show\` lists all quotas.`,
      );
    }
    const changes = { quotas: { [key]: value } };
    const { quotas } = wanted === 'show' ? before : ((await client.ask('PATCH', '/quotas', changes)) as typeof before);
    return { json: { quotas }, ...(wanted === 'show' && { text: writeQuotas(quotas) }) };
  },
});

function writeQuotas(quotas: Quotas): string {
  const rows = Object.entries(quotas).map(([name, { capacity, refill, by, cost }]) =>
    [name, capacity, refill, (by as string[]).join(','), JSON.stringify(cost)].map((cell) => printable(String(cell))),
  );
  return writeTable([['NAME', 'CAPACITY', 'REFILL', 'BY', 'COST'], ...rows]);
}
