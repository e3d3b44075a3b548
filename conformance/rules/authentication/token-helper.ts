import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Skip } from '../../check/outcomes.js';
import type { RuleContext } from '../../check/rule-context.js';
import { packageRoot } from '../../target/package-root.js';

/** Result of running this package's command `conformance token`. */
export interface HelperRun {
  readonly code: number;
  /** Token that the command printed. Empty if the command failed. */
  readonly out: string;
  readonly complaint: string;
}

/** Maximum run time of the command in milliseconds. */
const LONGEST = 20_000;

/** Runs `conformance token` in a separate process, as users do. `key`: path of the file with the private key. */
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

/**
 * Calls `use` with the path of a temporary file that contains a PEM key. Skips the rule if its folder cannot be
 * created.
 */
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
