import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { packageFile } from '../environment/package-root.js';
import { parseScenarioText, readText } from './scenario-file.js';

/** A scenario that is shipped, by its file. */
export interface ShippedScenario {
  readonly id: string;
  readonly about: string;
  readonly file: string;
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
      const { id, about } = (await parseScenarioText(readText(file), file)) as { id: string; about: string };
      return { id, about: about.trim(), file };
    }),
  );
}

/** The file of the shipped scenario with that id; undefined where there is none. */
export function shippedFile(id: string): string | undefined {
  return readdirSync(folder()).includes(`${id}.yaml`) ? join(folder(), `${id}.yaml`) : undefined;
}
