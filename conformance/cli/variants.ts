import { readFile } from 'node:fs/promises';
import { emulatorVariants, UNSEEN_SWITCHES } from '../report/emulator-variants.js';
import type { Report } from '../report/results.js';
import { defineCommand, type Flags } from './command.js';
import { UsageError } from './usage-error.js';

const FLAGS = {
  json: { describe: 'With what has no switch, and why, as JSON' },
} satisfies Flags;

export const variantsCommand = defineCommand({
  name: 'variants',
  argument: 'report',
  describe: 'Print the --variants with which the emulator answers as the target of a JSON report did',
  flags: FLAGS,
  run: async ({ json }, { print, warn }, file) => {
    const { variants, without } = emulatorVariants(await readReport(file));
    if (json) {
      print(`${JSON.stringify({ variants, without, unseen: UNSEEN_SWITCHES }, null, 2)}\n`);
      return;
    }
    print(`${JSON.stringify(variants, null, 2)}\n`);
    for (const { point, seen, why } of without) warn(`${point}: ${seen}: ${why}\n`);
    for (const [name, why] of Object.entries(UNSEEN_SWITCHES)) warn(`${name} cannot be told: ${why}\n`);
  },
});

async function readReport(file: string): Promise<Report> {
  try {
    const report = JSON.parse(await readFile(file, 'utf8')) as Partial<Report>;
    if (report.variants && Array.isArray(report.rules)) return report as Report;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw new UsageError(`${file} cannot be read: ${(error as Error).message}`);
  }
  throw new UsageError(`${file} is no JSON report of a run`);
}
