import { allRules } from '../rules/registry.js';
import { isWritten } from '../rules/rule-table.js';
import { defineCommand } from './command.js';
import { UsageError } from './usage-error.js';

const REACH = {
  any: 'any target',
  'needs-setup': 'targets with further keys, organizations or routes',
  emulator: 'the emulator only',
} as const;

export const explainCommand = defineCommand({
  name: 'explain',
  argument: 'id',
  describe: 'Say what one rule asks for',
  flags: {},
  run: (_values, { print }, id) => {
    const rule = allRules().find((one) => one.id === id);
    if (rule === undefined) throw new UsageError(`no rule is called ${id}`);
    const lines = [
      rule.id,
      `  ${rule.says}`,
      `  level    ${rule.level}`,
      `  section  ${rule.section}`,
      `  judged   on ${REACH[rule.reach]}, ${rule.writes ? 'by writing' : 'by reading'}`,
      `  check    ${isWritten(rule) ? 'written' : 'not written yet'}`,
    ];
    print(`${lines.join('\n')}\n`);
  },
});
