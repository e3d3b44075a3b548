import { writeRuleDocument } from '../rules/rule-document.js';
import { isWritten, writeRuleTable } from '../rules/rule-table.js';
import { selectSome } from '../run/options.js';
import { defineCommand } from './command.js';
import { text } from './values.js';

export const listCommand = defineCommand({
  name: 'list',
  describe: 'List the rules of the suite, with level and reach',
  flags: {
    only: {
      read: text('ids of rules'),
      describe: 'Ids of the rules to list, separated by commas; `*` matches any characters',
    },
    json: { describe: 'As JSON' },
    tsv: { describe: 'Print the list as tab-separated values' },
    markdown: { describe: 'As the document SPECIFICATION.md, with contradictions and gaps' },
  },
  exclusive: [
    ['json', 'tsv'],
    ['json', 'markdown'],
    ['tsv', 'markdown'],
  ],
  run: ({ only, json, tsv, markdown }, { print }) => {
    const rules = selectSome(only);
    if (tsv) print(writeRuleTable(rules));
    else if (markdown) print(writeRuleDocument(rules));
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
      print(`${JSON.stringify(rows, null, 2)}\n`);
    } else print(rules.map(({ id, level, reach, says }) => `${id}  ${level}  ${reach}\n    ${says}\n`).join(''));
  },
});
