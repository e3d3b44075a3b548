import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { FaultedOperation } from '../faults/operation-shape.js';
import { Problem } from '../http/problem.js';
import { packageFile } from '../system/package-root.js';
import { readTextFile, UnreadableFile } from '../system/text-file.js';
import { readScenario } from './read-scenario.js';
import type { Scenario } from './scenario.js';
import { readYaml, YamlError } from './yaml.js';

/** Error in a scenario file. The message is one sentence that begins with the name of the file. */
export class ScenarioError extends Error {
  override readonly name = 'ScenarioError';
}

/** Parses the text of a scenario file, which is YAML 1.2 or JSON (a subset of YAML). Throws `ScenarioError`. */
export async function parseScenarioText(text: string, file: string): Promise<unknown> {
  try {
    return await readYaml(text);
  } catch (error) {
    throw error instanceof YamlError ? new ScenarioError(`${file}: ${error.message}.`) : error;
  }
}

/** Maximum size of a scenario file, in bytes. Scenarios of recorded traffic contain the bodies of all responses. */
export const SCENARIO_FILE_LIMIT = 16 * 2 ** 20;

/** Reads and validates a scenario file. Throws `ScenarioError` with the name of the file and the invalid member. */
export async function readScenarioFile(file: string, operations: readonly FaultedOperation[]): Promise<Scenario> {
  const value = await parseScenarioText(readText(file, SCENARIO_FILE_LIMIT), file);
  return inFile(file, () => readScenario(value, operations));
}

/** Returns the result of `read`. An error about an invalid value becomes a `ScenarioError` that names the file. */
export function inFile<T>(file: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw error instanceof Problem ? new ScenarioError(`${file}: ${error.detail.replace(/\.?$/, '.')}`) : error;
  }
}

/** Reads a text file of at most `limit` bytes. Default: 1 MiB. Throws `ScenarioError`. */
export function readText(file: string, limit?: number): string {
  try {
    return readTextFile(file, limit);
  } catch (error) {
    throw error instanceof UnreadableFile ? new ScenarioError(`${file} cannot be read: ${error.message}.`) : error;
  }
}

/** Scenario that the package contains, in the folder `fixtures/scenarios`. */
export interface ShippedScenario {
  readonly id: string;
  readonly about: string;
  readonly file: string;
  readonly text: string;
  /** Parsed form of `text`, not validated. */
  readonly value: unknown;
}

function folder(): string {
  return packageFile('fixtures', 'scenarios');
}

/** Returns all scenarios that the package contains, sorted by id. */
export async function shippedScenarios(): Promise<ShippedScenario[]> {
  const files = readdirSync(folder()).filter((name) => name.endsWith('.yaml'));
  return Promise.all(
    files.sort().map(async (name) => {
      const file = join(folder(), name);
      const text = readText(file);
      const value = await parseScenarioText(text, file);
      const { id, about } = value as { readonly id: string; readonly about: string };
      return { id, about: about.trim(), file, text, value };
    }),
  );
}

/** Returns the path of the package's scenario file with this id; undefined if absent. */
export function shippedFile(id: string): string | undefined {
  return readdirSync(folder()).includes(`${id}.yaml`) ? join(folder(), `${id}.yaml`) : undefined;
}

/**
 * Returns the path of a scenario file. `value` is the id of a scenario that the package contains, or a path. Throws
 * `ScenarioError` if it is neither.
 */
export async function findScenarioFile(value: string): Promise<string> {
  const shipped = shippedFile(value);
  if (shipped !== undefined) return shipped;
  if (existsSync(value)) return value;
  const ids = (await shippedScenarios()).map(({ id }) => id);
  throw new ScenarioError(
    `${JSON.stringify(value)} is neither a file nor a shipped scenario. The shipped scenarios are ${ids.join(', ')}.`,
  );
}
