import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { packageRoot } from '../target/package-root.js';

/**
 * Row of the table of mutants. A mutant is an emulator with one deliberate defect. The verdict `killed` means that the
 * rule failed on the mutant. This proves that the rule can fail.
 */
export interface MutantRow {
  readonly rule: string;
  readonly mutant: string;
  readonly verdict: string;
  /** Description of the deliberate defect. */
  readonly does: string;
  /** Names of the rule's clauses that the mutant breaks, separated by commas. */
  readonly clauses: string;
}

/**
 * Reads the table of mutants (emulators with one deliberate defect each). Returns undefined if the package does not
 * contain the file. The file has tab-separated columns:
 *
 *     rule<TAB>mutant<TAB>verdict<TAB>does<TAB>clauses
 *     jwt.alg.none<TAB>takes-unsigned-tokens<TAB>killed<TAB>takes tokens without a signature
 *
 * The first line names the columns, in any order. Unknown columns are ignored.
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
    return {
      rule: cell('rule'),
      mutant: cell('mutant'),
      verdict: cell('verdict'),
      does: cell('does'),
      clauses: cell('clauses'),
    };
  });
}

/**
 * Returns the ids of all rules that failed on at least one mutant (emulator with a deliberate defect). The result has
 * the form of an option of `runRules`. Returns an empty object if there is no table of mutants.
 */
export async function readProven(): Promise<{ readonly proven?: ReadonlySet<string> }> {
  const mutants = await readMutants();
  if (mutants === undefined) return {};
  return { proven: new Set(mutants.filter(({ verdict }) => verdict === 'killed').map(({ rule }) => rule)) };
}
