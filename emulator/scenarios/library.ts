import { readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { parseScenarioText, readText } from './scenario-file.js';

/** A scenario that is shipped, by its file. */
export interface ShippedScenario {
  readonly id: string;
  readonly about: string;
  readonly file: string;
}

/** Where they are: beside their JSON Schema. */
function folder(): string {
  // `#fixtures/*` is mapped by package.json; the same from sources, from dist and from an installed package.
  const schema = createRequire(import.meta.url).resolve('#fixtures/scenario.schema.json');
  return join(dirname(schema), 'scenarios');
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
