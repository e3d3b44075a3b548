import { dirname, sep } from 'node:path';
import { randomNumbers } from '../../git/test/random-numbers.js';

/**
 * Folders below `dist/` with slow tests, which start whole programs or a browser. `share` is the part of each folder's
 * files that `npm test` draws at random, so that it takes 5 minutes. `.ci/run` also runs the other files. Test files in
 * other folders always run.
 */
const SHARES: readonly (readonly [folder: string, share: number])[] = [
  ['conformance/test', 1 / 5],
  ['emulator/page/test', 1 / 5],
  ['emulator/cli/commands', 1 / 5],
  ['emulator/bundle', 1 / 5],
  ['emulator/test', 1 / 4],
];

/** Draws the test files for `npm test`. The same seed and files give the same result. The order of `files` is kept. */
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
