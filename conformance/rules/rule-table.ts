import type { Rule } from './rule.js';

/** Formats the rules as tab-separated values: id, section, level, reach, read_only, sentence. */
export function writeRuleTable(rules: readonly Rule[]): string {
  const rows = rules.map(({ id, section, level, reach, writes, says }) =>
    [id, section, level, reach, writes ? 'no' : 'yes', says].join('\t'),
  );
  return `${['id\tsection\tlevel\treach\tread_only\tsays', ...rows].join('\n')}\n`;
}

/** Returns true if a rule can reach a verdict other than skip. */
export function isWritten(rule: Rule): boolean {
  return rule.check !== undefined || rule.watch !== undefined;
}
