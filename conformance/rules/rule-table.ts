import type { Rule } from './rule.js';

/**
 * Returns the rules as tab-separated values, one line per rule. The columns are id, section, level, reach, read_only
 * and says.
 */
export function writeRuleTable(rules: readonly Rule[]): string {
  const rows = rules.map(({ id, section, level, reach, writes, says }) =>
    [id, section, level, reach, writes ? 'no' : 'yes', says].join('\t'),
  );
  return `${['id\tsection\tlevel\treach\tread_only\tsays', ...rows].join('\n')}\n`;
}

/** Returns true if the rule is implemented. The verdict of other rules is always `skip`. */
export function isWritten(rule: Rule): boolean {
  return rule.check !== undefined || rule.watch !== undefined;
}
