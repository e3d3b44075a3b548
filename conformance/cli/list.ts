import type { Argv, CommandModule } from 'yargs';
import { allRules, selectRules } from '../registry.js';
import { isWritten, writeRuleTable } from '../rule-table.js';

interface ListArguments {
  readonly only: string | undefined;
  readonly json: boolean;
  readonly tsv: boolean;
}

export const listCommand: CommandModule<object, ListArguments> = {
  command: 'list',
  describe: 'List the rules',
  builder: (yargs) =>
    yargs
      .option('only', { type: 'string', describe: 'Rules to list: ids, `*` for anything, joined by commas' })
      .option('json', { type: 'boolean', default: false, describe: 'As JSON' })
      .option('tsv', { type: 'boolean', default: false, describe: 'As a table with tabs' }) as Argv<ListArguments>,
  handler: ({ only, json, tsv }) => {
    const rules = selectRules(allRules(), only);
    if (rules.length === 0) process.exitCode = 2;
    if (tsv) process.stdout.write(writeRuleTable(rules));
    else if (json) {
      const rows = rules.map((rule) => ({
        id: rule.id,
        section: rule.section,
        level: rule.level,
        reach: rule.reach,
        read_only: !rule.writes,
        written: isWritten(rule),
        says: rule.says,
      }));
      process.stdout.write(`${JSON.stringify(rows, null, 2)}\n`);
    } else for (const { id, level, says } of rules) process.stdout.write(`${id}  ${level}\n    ${says}\n`);
  },
};
