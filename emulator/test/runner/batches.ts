import { readFileSync } from 'node:fs';
import { dirname, join, sep } from 'node:path';

/**
 * Folders below `dist/` whose test files start programs, or read or change their own process. Each of these files runs
 * in a separate process.
 */
const OWN_PROCESS: readonly string[] = [
  'conformance/cli',
  'conformance/test',
  'emulator/bench',
  'emulator/bundle',
  'emulator/cli/commands',
  'emulator/test/concurrency',
  'emulator/test/documents',
  'emulator/test/faults',
  'emulator/test/limits',
  'emulator/test/package',
  'emulator/test/runners',
];

/** Maximum number of test files in one process. A higher number could leave a CPU core idle at the end. */
const MAX_FILES = 12;

/** Maximum number of test files with a shared emulator in one process. Each of these files takes 5 to 30 s. */
const MAX_SHARING = 5;

/**
 * Groups test files into batches, which one process runs each. A batch has files of one folder, or files that share an
 * emulator. A file that needs its own process is alone in its batch.
 *
 * @param root Path of `dist/`.
 * @param files Paths below it.
 */
export function batchesOf(root: string, files: readonly string[]): string[][] {
  const batches: string[][] = [];
  const open = new Map<string, string[]>();
  for (const file of files) {
    const folder = dirname(file).split(sep).join('/');
    const isSharing = readFileSync(join(root, file), 'utf8').includes("'./shared-emulator.js'");
    if (!isSharing && OWN_PROCESS.some((own) => folder === own || folder.startsWith(`${own}/`))) {
      batches.push([file]);
      continue;
    }
    // Put the files of all folders below emulator/git into common batches, because each of these folders has few files.
    const key = folder.replace(/^(emulator\/git)\/.*/, '$1');
    let batch = open.get(key);
    if (batch === undefined || batch.length === (isSharing ? MAX_SHARING : MAX_FILES)) {
      batch = [];
      open.set(key, batch);
      batches.push(batch);
    }
    batch.push(file);
  }
  return batches;
}
