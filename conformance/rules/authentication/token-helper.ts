import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Skip } from '../../check/outcomes.js';
import type { RuleContext } from '../../check/rule-context.js';
import { packageRoot } from '../../target/package-root.js';

/** Outcome of a run of this package's token helper. */
export interface HelperRun {
  readonly code: number;
  /** The token; empty if the helper failed. */
  readonly out: string;
  readonly complaint: string;
}

/** Time limit in milliseconds. */
const LONGEST = 20_000;

/** Runs `conformance token` as users do: as a separate process, with the key in a file. */
export function runTokenHelper(t: RuleContext, key: string, repo: string): Promise<HelperRun> {
  const script = join(packageRoot(), 'bin', 'conformance.js');
  const args = [script, 'token', '--org', t.target.org, '--key', key, '--repo', repo];
  return new Promise((resolve) => {
    execFile(process.execPath, args, { timeout: LONGEST }, (error, stdout, stderr) => {
      const code = error === null ? 0 : typeof error.code === 'number' ? error.code : -1;
      resolve({ code, out: stdout.trim(), complaint: stderr.trim() });
    });
  });
}

/** Calls `use` with a temporary file that contains a key. Skips the rule if the folder for it cannot be created. */
export async function withKeyFile<Result>(pem: string, use: (file: string) => Promise<Result>): Promise<Result> {
  const folder = await mkdtemp(join(tmpdir(), 'conformance-')).catch((error: Error) => {
    throw new Skip(`needs a folder for a key file: ${error.message}`);
  });
  try {
    const file = join(folder, 'key.pem');
    await writeFile(file, pem, { mode: 0o600 });
    return await use(file);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
