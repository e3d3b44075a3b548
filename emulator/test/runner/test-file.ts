import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { Parser } from 'tap-parser';

export interface Outcome {
  readonly isPassed: boolean;
  /**
   * Number of passed assertions, including those of subtests. `failed` also counts an abnormal end of the process as
   * one assertion.
   */
  readonly passed: number;
  readonly failed: number;
  /** Names of the skipped tests, with the reason of each. */
  readonly skipped: readonly string[];
  /** Complete output of the process. */
  readonly output: string;
  readonly isTimedOut: boolean;
}

interface Options {
  /** Time limit in milliseconds. The process is killed when it is exceeded. */
  readonly timeout: number;
  readonly env?: Readonly<Record<string, string>>;
}

const BATCH = fileURLToPath(new URL('./batch.js', import.meta.url));

/**
 * Runs compiled test files one after another in one process, and reads their TAP output.
 *
 * Starts plain Node instead of the runner of `tap`. That runner adds a module loader to every Node process, which
 * records loaded files for coverage. Coverage is not needed, and the loader took as long as half of the tests.
 */
export function runTestFiles(files: readonly string[], { timeout, env = {} }: Options): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    const args = files.length === 1 ? files : [BATCH, ...files];
    const child = spawn(process.execPath, args, {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, ...env, TAP_TIMEOUT: String(timeout / 1000) },
    });
    const output: Buffer[] = [];
    const skipped: string[] = [];
    const totals = { total: 0, fail: 0, skip: 0, todo: 0 };
    let isTimedOut = false;
    const timer = setTimeout(() => {
      isTimedOut = true;
      child.kill('SIGKILL');
    }, timeout + 5_000);
    const parser = new Parser({ bail: false });
    noteSkips(parser, skipped);
    // Read the totals from the line `# { total: 12, pass: 11, fail: 1 }` at the end of tap's output. It counts the
    // assertions of all subtests.
    parser.on('comment', (comment) => {
      const found = /^# \{ (total: .*) \}\n$/.exec(comment)?.[1];
      if (found === undefined) return;
      for (const [, name, count] of found.matchAll(/(\w+): (\d+)/g)) Object.assign(totals, { [name!]: Number(count) });
    });
    child.stdout.on('data', (piece: Buffer) => {
      output.push(piece);
      parser.write(piece);
    });
    child.stderr.on('data', (piece: Buffer) => output.push(piece));
    child.on('error', reject);
    child.on('close', (code) => {
      clearTimeout(timer);
      parser.end();
      const isPassed = code === 0 && parser.results?.ok === true && totals.total > 0;
      const failed = isPassed ? 0 : Math.max(1, totals.fail);
      const passed = Math.max(0, totals.total - totals.fail - totals.skip - totals.todo);
      resolve({ isPassed, passed, failed, skipped, output: Buffer.concat(output).toString(), isTimedOut });
    });
  });
}

function noteSkips(parser: Parser, skipped: string[]): void {
  parser.on('child', (child) => noteSkips(child, skipped));
  parser.on('skip', ({ fullname, name, skip }) => skipped.push(`${fullname || name}: ${skip}`));
}
