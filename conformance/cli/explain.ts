import { allRules } from '../rules/registry.js';
import type { Level } from '../rules/rule.js';
import { isWritten } from '../rules/rule-table.js';
import { type MutantRow, readMutants } from '../run/proof.js';
import { ambiguityRows } from '../specification/ambiguities.js';
import { defineCommand } from './command.js';
import { UsageError } from './usage-error.js';

const REACH = {
  any: 'any target',
  'needs-setup': 'targets for which additional keys, organizations or routes are given',
  emulator: 'only the emulator',
} as const;

const WAYS: Readonly<Record<string, string>> = {
  true: 'by writing',
  false: 'by reading',
  'where-allowed': 'by reading; with --write also by writing',
};

const BROKEN: Readonly<Record<Level, string>> = {
  MUST: 'a violation fails the run',
  SHOULD: 'a violation is a warning; with --strict it fails the run',
  MAY: 'the observed behaviour is reported',
  UNSPECIFIED: 'the observed behaviour is reported, because the specification does not define it',
};

export const explainCommand = defineCommand({
  name: 'explain',
  arguments: ['id'],
  describe: 'Explain one rule, and show the mutant that proves that it can fail',
  flags: {},
  run: async (_values, { print }, [id = '']) => {
    const rule = allRules().find((one) => one.id === id);
    if (rule === undefined) throw new UsageError(`unknown rule ${id}`);
    const mutants = await readMutants();
    const lines = [
      rule.id,
      `  ${rule.says}`,
      ...Object.entries(rule.clauses ?? {}).map(([name, says]) => `  clause   ${name}: ${says}`),
      `  level    ${rule.level}: ${BROKEN[rule.level]}`,
      `  section  ${rule.section}`,
      `  reach    ${rule.reach}`,
      `  checked   on ${REACH[rule.reach]}, ${WAYS[String(rule.writes)]}`,
      `  check    ${isWritten(rule) ? 'written' : 'not written yet'}`,
      ...openLines(id),
      `  see      conformance/SPECIFICATION.md#${id}`,
      ...(mutants === undefined
        ? []
        : proofLines(
            rule.level,
            mutants.filter((row) => row.rule === id),
          )),
      `  try it   npx conformance run --only ${id}`,
    ];
    print(`${lines.join('\n')}\n`);
  },
});

/** Returns one line for each contradiction or gap of the specification that concerns the rule. */
function openLines(id: string): string[] {
  return ambiguityRows()
    .filter(({ rules }) => rules.includes(id))
    .map(({ code, title, emulator }) => `  open     ${code}, ${title}. ${emulator}`);
}

/**
 * Returns lines about the mutants with which the rule was tested. A mutant is a server with one deliberate defect. If
 * no mutant makes a rule fail, the rule is not proven to be able to fail.
 */
export function proofLines(level: Level, rows: readonly MutantRow[]): string[] {
  const isProven = rows.some(({ verdict }) => verdict === 'killed');
  const lines = rows.map(({ mutant, verdict, does, clauses }) => {
    const broken = clauses === '' ? '' : `; breaks ${clauses.replaceAll(',', ', ')}`;
    return `  mutant   ${verdict}: ${does || mutant} (${mutant}${broken})`;
  });
  if (isProven) return ['  proof    it noticed a mutant', ...lines];
  return [...(level === 'MUST' ? ['  proof    unproven: no mutant in the test suite breaks it'] : []), ...lines];
}
