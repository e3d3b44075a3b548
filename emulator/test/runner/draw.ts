import { dirname, sep } from 'node:path';
import { randomNumbers } from '../../git/test/random-numbers.js';

/**
 * Folders below `dist/` with slow test files, which start whole programs or a browser, and the share of the files in each
 * folder that `npm test` selects at random, so that it takes 5 minutes. `.ci/run` runs the other files as well. Test files
 * next to the code are always run.
 */
const SHARES: readonly (readonly [folder: string, share: number])[] = [
  ['conformance/test', 1 / 5],
  ['emulator/page/test', 1 / 5],
  ['emulator/cli/commands', 1 / 5],
  ['emulator/bundle', 1 / 5],
  ['emulator/test', 1 / 4],
];

/**
 * Returns a random selection of the test files, for `npm test`. The same seed and files give the same selection. The
 * selected files keep the order that they have in `files`.
 */
export function drawFiles(files: readonly string[], seed: number): string[] {
  const draw = randomNumbers(seed);
  const byFolder = new Map<string, string[]>();
  for (const file of [...files].sort()) {
    const folder = dirname(file).split(sep).join('/');
    byFolder.set(folder, [...(byFolder.get(folder) ?? []), file]);
  }
  const left = new Set<string>();
  for (const [folder, inFolder] of byFolder) {
    const share = SHARES.find(([root]) => folder === root || folder.startsWith(`${root}/`))?.[1] ?? 1;
    for (let count = Math.floor(inFolder.length * (1 - share)); count > 0; count--) {
      for (const file of inFolder.splice(draw(inFolder.length), 1)) left.add(file);
    }
  }
  return files.filter((file) => !left.has(file));
}
