import type { Rule } from './rule.js';

/** The rules as a table with tabs: id, section, level, reach, read_only, sentence. */
export function writeRuleTable(rules: readonly Rule[]): string {
  const rows = rules.map(({ id, section, level, reach, writes, says }) =>
    [id, section, level, reach, writes ? 'no' : 'yes', says].join('\t'),
  );
  return `${['id\tsection\tlevel\treach\tread_only\tsays', ...rows].join('\n')}\n`;
}

/** Whether a rule can reach a verdict other than skip. */
export function isWritten(rule: Rule): boolean {
  return rule.check !== undefined || rule.watch !== undefined;
}
