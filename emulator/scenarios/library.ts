import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { packageFile } from '../system/package-root.js';
import { parseScenarioText, readText } from './scenario-file.js';

/** A scenario that is shipped, by its file. */
export interface ShippedScenario {
  readonly id: string;
  readonly about: string;
  readonly file: string;
  readonly text: string;
  /** What the text says. */
  readonly value: unknown;
}

function folder(): string {
  return packageFile('fixtures', 'scenarios');
}

/** In order of their ids. */
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

/** The file of the shipped scenario with that id; undefined where there is none. */
export function shippedFile(id: string): string | undefined {
  return readdirSync(folder()).includes(`${id}.yaml`) ? join(folder(), `${id}.yaml`) : undefined;
}
