import { allRules } from '../rules/registry.js';
import type { Level } from '../rules/rule.js';
import { isWritten } from '../rules/rule-table.js';
import { type MutantRow, readMutants } from '../run/proof.js';
import { ambiguityRows } from '../specification/ambiguities.js';
import { defineCommand } from './command.js';
import { UsageError } from './usage-error.js';

const REACH = {
  any: 'any target',
  'needs-setup': 'targets with further keys, organizations or routes',
  emulator: 'the emulator only',
} as const;

const WAYS: Readonly<Record<string, string>> = {
  true: 'by writing',
  false: 'by reading',
  'where-allowed': 'by reading, and where it may be written to also by writing',
};

const BROKEN: Readonly<Record<Level, string>> = {
  MUST: 'where it is broken, the run fails',
  SHOULD: 'where it is broken, that is a warning; with --strict the run fails',
  MAY: 'what is seen is noted',
  UNSPECIFIED: 'what is seen is noted, because the specification does not say it',
};

export const explainCommand = defineCommand({
  name: 'explain',
  arguments: ['id'],
  describe: 'Say what one rule asks for, and what proves that it can fail',
  flags: {},
  run: async (_values, { print }, [id = '']) => {
    const rule = allRules().find((one) => one.id === id);
    if (rule === undefined) throw new UsageError(`no rule is called ${id}`);
    const mutants = await readMutants();
    const lines = [
      rule.id,
      `  ${rule.says}`,
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

/** Lists the contradictions and gaps of the specification that concern the rule. */
function openLines(id: string): string[] {
  return ambiguityRows()
    .filter(({ rules }) => rules.includes(id))
    .map(({ code, title, emulator }) => `  open     ${code}, ${title}. Emulator: ${emulator}`);
}

/** Lists the mutants that the rule was checked with. A rule that noticed no mutant is not proven to be able to fail. */
export function proofLines(level: Level, rows: readonly MutantRow[]): string[] {
  const isProven = rows.some(({ verdict }) => verdict === 'killed');
  const lines = rows.map(({ mutant, verdict, does }) => `  mutant   ${verdict}: ${does || mutant} (${mutant})`);
  if (isProven) return ['  proof    it noticed a mutant', ...lines];
  return [...(level === 'MUST' ? ['  proof    unproven: no mutant in the test suite breaks it'] : []), ...lines];
}
