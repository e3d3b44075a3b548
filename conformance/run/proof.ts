import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { packageRoot } from '../target/package-root.js';

/** Mutated server, and whether a rule noticed it. The verdict `killed` proves the rule. */
export interface MutantRow {
  readonly rule: string;
  readonly mutant: string;
  readonly verdict: string;
  /** Behaviour of the mutated server. */
  readonly does: string;
}

/**
 * Reads the table of mutants; undefined if the package has none:
 *
 *     rule<TAB>mutant<TAB>verdict<TAB>does
 *     jwt.alg.none<TAB>takes-unsigned-tokens<TAB>killed<TAB>takes tokens without a signature
 *
 * The first line names the columns, in any order; unknown columns are ignored.
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

/** Reads the rules that noticed a mutant, as an option of the runner. */
export async function readProven(): Promise<{ readonly proven?: ReadonlySet<string> }> {
  const mutants = await readMutants();
  if (mutants === undefined) return {};
  return { proven: new Set(mutants.filter(({ verdict }) => verdict === 'killed').map(({ rule }) => rule)) };
}
