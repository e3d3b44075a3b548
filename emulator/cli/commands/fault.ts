import { list, text } from '../../config/option-values.js';
import { printable } from '../../log/log.js';
import { type AdminClient, readAction, readValue } from '../admin-client.js';
import { adminCommand } from '../admin-command.js';
import { readDocument } from '../document.js';
import { writeTable } from '../table.js';
import { UsageError } from '../usage-error.js';

const ACTIONS = ['add', 'ls', 'rm', 'show', 'disable', 'enable'] as const;

const FLAGS = {
  op: {
    read: list(text('the id of an operation')),
    repeatable: true,
    describe:
      'Apply the fault only to requests of an operation, such as commitPack or git*; separate several by commas',
  },
  repo: {
    read: text('the name of a repository'),
    describe: 'Apply the fault only to requests to a repository; * matches any characters',
  },
  sub: {
    read: text('the value of the claim sub'),
    describe: 'Apply the fault only to requests whose token has this claim sub; * matches any characters',
  },
  ref: {
    read: text('the full name of a ref'),
    describe: 'Apply the fault only to Git requests and writes that name a ref, such as refs/heads/main',
  },
  path: {
    read: text('the path of a file'),
    describe: 'Apply the fault only to commits and pushes that change a path; * matches any characters, also /',
  },
  message: {
    read: text('a commit message'),
    describe: 'Apply the fault only to commits and pushes with this commit message; * matches any characters',
  },
  file: { read: text('the name of a file'), describe: 'JSON or YAML file with the fault, or a list of faults, to add' },
} as const;

/** Flags of `fault add` that add a condition to the fault. */
const CONDITION_FLAGS = '--op, --repo, --sub, --ref, --path, --message';

type Body = Readonly<Record<string, unknown>>;
type FaultRecord = Readonly<Record<string, unknown>>;

/**
 * Command `emulator fault`: adds, lists, disables, enables and removes faults (deliberate failures of requests) of a
 * running emulator.
 */
export const faultCommand = adminCommand({
  name: 'fault',
  describe:
    'Make requests fail: add SPEC, ls, rm ID, show ID, disable ID, enable ID; `emulator faults` lists the faults',
  flags: FLAGS,
  positionals: {
    action: 'add, ls, rm, show, disable or enable',
    value: 'NAME[*TIMES][+SKIP][@STAGE][;KEY=VALUE]…, or the id of a fault',
  },
  run: async ({ action, value, op, file, ...conditions }, client) => {
    const name = readAction('fault', action, ACTIONS);
    const { repo, sub, ref, path: changed, message } = conditions;
    const match = Object.entries({ op: op?.join(','), repo, sub, ref, path: changed, message });
    const keys = match.flatMap(([key, one]) => (one === undefined ? [] : [`;match.${key}=${encodeURIComponent(one)}`]));
    if (name !== 'add' && (file !== undefined || keys.length > 0)) {
      throw new UsageError(`fault ${name} takes none of ${CONDITION_FLAGS} and --file. They are for fault add.`);
    }
    if (name === 'add') {
      const bodies = await readFaults(value, file, keys.join(''));
      const made = await addAll(client, bodies, file !== undefined);
      // Prints only the ids of the new faults as text, so that a script can store them in a variable.
      return { json: made.length === 1 ? made[0] : made, text: made.map(({ id }) => `${id}\n`).join('') };
    }
    const id = readValue(`fault ${name}`, value, name === 'ls' ? undefined : 'the id of a fault');
    if (name === 'ls') {
      const items = await client.list('/faults');
      return { json: items, text: writeFaults(items) };
    }
    const path = `/faults/${encodeURIComponent(id)}`;
    if (name === 'show') {
      const fault = await client.ask('GET', path);
      return { json: fault, text: `${JSON.stringify(fault, undefined, 2)}\n` };
    }
    if (name === 'disable' || name === 'enable') {
      return { json: await client.ask('PATCH', path, { enabled: name === 'enable' }) };
    }
    await client.ask('DELETE', path);
    return { json: { id, removed: true } };
  },
});

async function readFaults(spec: string | undefined, file: string | undefined, conditions: string): Promise<Body[]> {
  if (file === undefined) {
    const texts = readValue('fault add', spec, 'a fault, or --file').split(',');
    return texts.map((one) => ({ spec: one.trim() + conditions }));
  }
  if (spec !== undefined) throw new UsageError('fault add takes a fault or --file, but not both.');
  if (conditions !== '') {
    throw new UsageError(
      `fault add does not combine --file with ${CONDITION_FLAGS}. Use the member match of the faults in the file.`,
    );
  }
  const faults = [await readDocument('--file', file)].flat();
  if (faults.length === 0)
    throw new UsageError(`--file must contain at least one fault, but ${JSON.stringify(file)} contains none.`);
  return faults.map((fault, index) => {
    if (typeof fault === 'string') return { spec: fault };
    if (typeof fault === 'object' && fault !== null && !Array.isArray(fault)) return fault as Body;
    throw new UsageError(
      `--file must contain a fault or a list of faults: faults.${index} of ${JSON.stringify(file)} is not a fault.`,
    );
  });
}

/**
 * Adds faults to a running emulator. If the emulator refuses a fault, removes those already added and throws the
 * emulator's error. `isList` is true if the faults come from a list; the error then contains the position of the
 * refused fault.
 */
async function addAll(client: AdminClient, bodies: readonly Body[], isList: boolean): Promise<FaultRecord[]> {
  const made: FaultRecord[] = [];
  try {
    for (const body of bodies) made.push((await client.ask('POST', '/faults', body)) as FaultRecord);
  } catch (error) {
    for (const { id } of made) await client.ask('DELETE', `/faults/${encodeURIComponent(String(id))}`);
    if (!isList || !(error instanceof UsageError)) throw error;
    throw new UsageError(`faults.${made.length}: ${error.message.replace(/^The fault: /, '')}`);
  }
  return made;
}

function writeFaults(items: readonly FaultRecord[]): string {
  const rows = items.map(({ id, source, fired, matched, remaining, text: words, do: action, sequence, ...rest }) => {
    const shown = words ?? JSON.stringify({ match: rest.match, when: rest.when, at: rest.at, do: action, sequence });
    const state = rest.enabled === false ? 'disabled' : 'enabled';
    return [id, source, state, fired, matched, remaining ?? '–', shown].map((cell) => printable(String(cell)));
  });
  return writeTable([['ID', 'SOURCE', 'STATE', 'FIRED', 'MATCHED', 'LEFT', 'FAULT'], ...rows]);
}
