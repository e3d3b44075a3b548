import { readFileSync } from 'node:fs';
import { Problem } from '../http/problem.js';
import type { Scenario } from '../world/scenario.js';
import { type KnownOperation, readScenario } from './read-scenario.js';

/** Bytes of a file. */
const LONGEST = 4 * 1024 * 1024;

/** What is wrong with a file, in one sentence. */
export class ScenarioError extends Error {
  override readonly name = 'ScenarioError';
}

/** The value that a text holds: YAML 1.2, of which JSON is a part. Throws `ScenarioError`. */
export async function parseScenarioText(text: string, file: string): Promise<unknown> {
  if (text.length > LONGEST) throw new ScenarioError(`${file}: is longer than ${LONGEST} characters.`);
  const { parse } = await import('yaml');
  try {
    return parse(text, { maxAliasCount: 100 });
  } catch (error) {
    const [line] = (error as Error).message.split('\n', 1);
    throw new ScenarioError(`${file}: ${line!.replace(/[:.]$/, '')}.`);
  }
}

/** Reads a file. Throws `ScenarioError` that names it, and the member of what cannot be. */
export async function readScenarioFile(file: string, operations: readonly KnownOperation[]): Promise<Scenario> {
  const value = await parseScenarioText(readText(file), file);
  try {
    return readScenario(value, operations);
  } catch (error) {
    throw error instanceof Problem ? new ScenarioError(`${file}: ${error.detail.replace(/\.?$/, '.')}`) : error;
  }
}

export function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new ScenarioError(`${file}: cannot be read (${(error as NodeJS.ErrnoException).code ?? 'it is no file'}).`);
  }
}
