import type { Argv, CommandModule } from 'yargs';
import { allRules } from '../registry.js';
import { isWritten } from '../rule-table.js';

const REACH = {
  any: 'any target',
  'needs-setup': 'targets with further keys, organizations or routes',
  emulator: 'the emulator only',
} as const;

export const explainCommand: CommandModule<object, { readonly id: string }> = {
  command: 'explain <id>',
  describe: 'Say what one rule asks for',
  builder: (yargs) => yargs.positional('id', { type: 'string', demandOption: true }) as Argv<{ readonly id: string }>,
  handler: ({ id }) => {
    const rule = allRules().find((one) => one.id === id);
    if (rule === undefined) {
      process.stderr.write(`no rule is called ${id}\n`);
      process.exitCode = 2;
      return;
    }
    const lines = [
      rule.id,
      `  ${rule.says}`,
      `  level    ${rule.level}`,
      `  section  ${rule.section}`,
      `  judged   on ${REACH[rule.reach]}, ${rule.writes ? 'by writing' : 'by reading'}`,
      `  check    ${rule.beyond ?? (isWritten(rule) ? 'written' : 'not written yet')}`,
    ];
    process.stdout.write(`${lines.join('\n')}\n`);
  },
};
