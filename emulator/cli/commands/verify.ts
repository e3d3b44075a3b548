import { text } from '../../config/option-values.js';
import type { Emulator } from '../../index.js';
import { printable } from '../../log/log.js';
import { adminCommand } from '../admin-command.js';
import { readDocument } from '../document.js';
import { UsageError } from '../usage-error.js';
import { readFile } from './scenario.js';

const FLAGS = {
  file: {
    read: text('the name of a file'),
    describe: 'JSON or YAML file with expectations, or a scenario that has some; default: every fault has fired',
  },
  client: { describe: 'Also check that the requests follow all rules for clients' },
} as const;

/**
 * Command `emulator verify`: checks the requests that a running emulator has recorded against expectations. Always
 * includes the expectations of running scenarios and of injected faults.
 */
export const verifyCommand = adminCommand({
  name: 'verify',
  describe: 'Check the received requests against expectations and running scenarios; exit status 1 if one is not met',
  flags: FLAGS,
  run: async ({ file, client: checked }, client, session) => {
    const expectations = file === undefined ? { faults: { everyFired: true } } : await readExpectations(file);
    const body = checked ? { ...expectations, client: true } : expectations;
    const response = (await client.ask('POST', '/verify', body)) as Verification;
    if (!response.met) session.exitCode = 1;
    return { json: response, text: writeVerification(response) };
  },
});

async function readExpectations(file: string): Promise<object> {
  const read = await readDocument('--file', file);
  if (typeof read !== 'object' || read === null || Array.isArray(read)) {
    throw new UsageError(
      `--file ${JSON.stringify(file)} must contain an object with expectations, such as {"requests": [...]}.`,
    );
  }
  // A file with the member `id` or `expect` is a scenario. A file of expectations has neither.
  return 'id' in read || 'expect' in read ? expectationsOfScenario(file) : read;
}

async function expectationsOfScenario(file: string): Promise<object> {
  const { operations } = await import('../../api/index.js');
  return (await readFile(file, operations)).expect ?? {};
}

type Verification = ReturnType<Emulator['verify']>;
type Near = Verification['unmet'][number]['nearest'][number];

/**
 * Formats the result of a verification. Each unmet expectation has its details; the last line is `met` or `not met`.
 */
export function writeVerification({ met, unmet, client }: Verification): string {
  const lines = unmet.flatMap(({ at, expectation, detail, nearest }) => [
    `${at}: ${detail}`,
    // Omits the expectation of a fault, because its detail is already a complete sentence.
    ...(at.startsWith('faults.') ? [] : [`  expected ${JSON.stringify(expectation)}`]),
    ...nearest.map((near) => `  nearest  ${writeNear(near)}`),
  ]);
  for (const { rule, title, level, verdict, faults } of client) {
    if (verdict !== 'broken') continue;
    lines.push(`broken rule for clients ${rule} (${level}): ${title}`);
    for (const { request, earlier, detail } of faults) {
      lines.push(`  ${request}${earlier === undefined ? '' : ` after ${earlier}`}: ${detail}`);
    }
  }
  if (client.length > 0) {
    const count = (wanted: string) => client.filter(({ verdict }) => verdict === wanted).length;
    lines.push(
      `rules for clients: ${count('kept')} kept, ${count('broken')} broken, ${count('unseen')} not applicable`,
    );
  }
  lines.push(met ? 'met' : 'not met');
  return lines.map((line) => `${printable(line)}\n`).join('');
}

/**
 * Formats a request that almost matches an unmet expectation, and the differences: `req-00000001 GET /api/repos 404
 * ref_not_found: status is 404, not 200`.
 */
function writeNear({ request: { id, method, path, status, code }, differs }: Near): string {
  const shown = [id, method, path, status, ...(code === undefined ? [] : [code])].join(' ');
  const differences = differs.map(
    ({ member, wanted, found }) => `${member} is ${JSON.stringify(found)}, not ${JSON.stringify(wanted)}`,
  );
  return differences.length === 0 ? shown : `${shown}: ${differences.join('; ')}`;
}
