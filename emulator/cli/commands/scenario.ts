import type { FaultedOperation } from '../../faults/operation-shape.js';
import type { readScenario } from '../../scenarios/read-scenario.js';
import { ADMIN_FLAGS, AdminClient, printJson, readAction, readValue } from '../admin-client.js';
import { defineCommand } from '../command.js';
import { writeTable } from '../table.js';
import type { Terminal } from '../terminal.js';
import { UsageError } from '../usage-error.js';

type Scenario = ReturnType<typeof readScenario>;

const ACTIONS = ['check', 'ls', 'show', 'start', 'from-har'] as const;

const WANTED = {
  check: 'the name of a file',
  ls: undefined,
  show: 'the id of a shipped scenario, or a file',
  start: 'the id of a scenario, or a file',
  'from-har': 'the name of a HAR file',
} as const;

/**
 * Command `emulator scenario`: checks, lists, starts and creates scenarios. A scenario is a file that defines an
 * initial state and its changes.
 */
export const scenarioCommand = defineCommand({
  name: 'scenario',
  describe: 'Check, list, show, start or create scenarios: check FILE, ls, show ID, start ID|FILE, from-har FILE',
  flags: ADMIN_FLAGS,
  positionals: { action: ACTIONS.join(', '), what: 'A file, or the id of a shipped scenario' },
  run: async ({ action, what, json, ...address }, { terminal }) => {
    const name = readAction('scenario', action, ACTIONS);
    const value = readValue(`scenario ${name}`, what, WANTED[name]);
    const { operations } = await import('../../api/index.js');
    if (name === 'ls') return list(json, terminal);
    if (name === 'start')
      return start(value, { json, terminal, client: new AdminClient(address, terminal) }, operations);
    if (name === 'from-har') return convert(value, json, terminal, operations);
    const file = name === 'show' ? await findFile(value) : value;
    const scenario = await readFile(file, operations);
    if (name === 'show') {
      const { readText } = await import('../../scenarios/scenario-file.js');
      return json ? printJson(terminal, scenario) : terminal.print(readText(file));
    }
    if (json) printJson(terminal, { id: scenario.id, file, ok: true });
    else terminal.print(`${file}: the scenario ${scenario.id} is valid.\n`);
  },
});

async function list(json: boolean, terminal: Terminal): Promise<void> {
  const { shippedScenarios } = await import('../../scenarios/scenario-file.js');
  const shipped = (await shippedScenarios()).map(({ id, about, file }) => ({ id, about, file }));
  if (json) return printJson(terminal, shipped);
  terminal.print(writeTable([['ID', 'ABOUT'], ...shipped.map(({ id, about }) => [id, about])]));
}

async function start(
  value: string,
  { json, terminal, client }: { json: boolean; terminal: Terminal; client: AdminClient },
  operations: readonly FaultedOperation[],
): Promise<void> {
  const isRegistered = (await client.list('/scenarios')).some(({ id }) => id === value);
  const path = `/scenarios/${encodeURIComponent(value)}/start`;
  const started = isRegistered
    ? await client.ask('POST', path)
    : await client.ask('POST', '/scenarios', { ...(await readFile(await findFile(value), operations)), start: true });
  if (json) return printJson(terminal, started);
  terminal.print(`${(started as { id: string }).id}\n`);
}

async function convert(
  file: string,
  json: boolean,
  terminal: Terminal,
  operations: readonly FaultedOperation[],
): Promise<void> {
  const { scenarioFromHar } = await import('../../scenarios/from-har.js');
  const { HAR_LIMIT } = await import('../../scenarios/har-archive.js');
  const { readText } = await import('../../scenarios/scenario-file.js');
  const convertText = async () => scenarioFromHar(readText(file, HAR_LIMIT), file, operations);
  const { scenario, notReplayed } = await withUsageErrors(convertText);
  if (notReplayed.length > 0) {
    terminal.warn(
      `The scenario does not replay these exchanges. The emulator responds to their requests itself.\n${notReplayed.map((line) => `  ${line}\n`).join('')}`,
    );
  }
  if (json) return printJson(terminal, scenario);
  const { stringify } = await import('yaml');
  terminal.print(stringify(scenario, { lineWidth: 120 }));
}

/**
 * Returns the path of a scenario file. `value` is the name of a scenario that is shipped with the emulator, or a path.
 */
async function findFile(value: string): Promise<string> {
  const { findScenarioFile } = await import('../../scenarios/scenario-file.js');
  return withUsageErrors(() => findScenarioFile(value));
}

/** Reads a scenario from a file. Throws `UsageError` if the file does not contain a valid scenario. */
export async function readFile(file: string, operations: readonly FaultedOperation[]): Promise<Scenario> {
  const { readScenarioFile } = await import('../../scenarios/scenario-file.js');
  return withUsageErrors(() => readScenarioFile(file, operations));
}

/**
 * Calls `read`. Converts a `ScenarioError` (invalid scenario file) to a `UsageError`, which is printed without a stack
 * trace.
 */
async function withUsageErrors<Value>(read: () => Promise<Value>): Promise<Value> {
  const { ScenarioError } = await import('../../scenarios/scenario-file.js');
  try {
    return await read();
  } catch (error) {
    throw error instanceof ScenarioError ? new UsageError(error.message) : error;
  }
}
