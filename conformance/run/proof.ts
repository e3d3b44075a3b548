import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { packageRoot } from '../target/package-root.js';

/** A changed behaviour, and whether a rule noticed it: `killed` is the verdict that proves the rule. */
export interface MutantRow {
  readonly rule: string;
  readonly mutant: string;
  readonly verdict: string;
  /** What the changed server does. */
  readonly does: string;
}

/**
 * The table of mutants, or undefined where the package has none:
 *
 *     rule<TAB>mutant<TAB>verdict<TAB>does
 *     jwt.alg.none<TAB>takes-unsigned-tokens<TAB>killed<TAB>takes tokens without a signature
 *
 * Its first line names the columns, in any order; others than these are not read.
 */
export async function readMutants(
  file = join(packageRoot(), 'fixtures', 'conformance-mutants.tsv'),
): Promise<readonly MutantRow[] | undefined> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (text === undefined) return undefined;
  const [head = '', ...lines] = text.split(/\r?\n/).filter((line) => line !== '' && !line.startsWith('#'));
  const columns = head.split('\t');
  return lines.map((line) => {
    const cells = line.split('\t');
    const cell = (name: string) => cells[columns.indexOf(name)] ?? '';
    return { rule: cell('rule'), mutant: cell('mutant'), verdict: cell('verdict'), does: cell('does') };
  });
}

/** The rules that noticed a mutant, as an option of the runner. */
export async function readProven(): Promise<{ readonly proven?: ReadonlySet<string> }> {
  const mutants = await readMutants();
  if (mutants === undefined) return {};
  return { proven: new Set(mutants.filter(({ verdict }) => verdict === 'killed').map(({ rule }) => rule)) };
}
