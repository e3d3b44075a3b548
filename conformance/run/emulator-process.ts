import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import { parseJson } from '../target/json.js';
import { packageRoot } from '../target/package-root.js';
import type { Target } from '../target/target.js';
import { type ReadyLine, readEmulatorTarget } from './emulator-target.js';

/** Emulator in a child process. `target` is the description that the suite needs to test it. */
export interface EmulatorProcess {
  readonly target: Target;
  close(): Promise<void>;
}

/**
 * Maximum time in milliseconds for an emulator to become ready after its start, and to exit after its stop. An emulator
 * that does not exit in time is killed (`SIGKILL`).
 */
const START_TIMEOUT = 20_000;
const STOP_TIMEOUT = 5_000;

/**
 * Arguments with which the suite starts an emulator. The port is any free one. There are two organizations, because
 * some rules need a second organization.
 */
export const START_ARGUMENTS = ['start', '--port', '0', '--org', 'demo', '--org', 'second', '--log', 'quiet'];

/**
 * Starts this package's emulator as a child process on a free port and waits until it is ready. `flags`: additional
 * flags of `emulator start`.
 *
 * ```js
 * const { target, close } = await startTargetEmulator('--seed', 'one');
 * const { exit_code } = await run(target, { only: 'grep' });
 * await close();
 * ```
 */
export function startTargetEmulator(...flags: readonly string[]): Promise<EmulatorProcess> {
  const script = join(packageRoot(), 'bin', 'emulator.js');
  const args = [script, ...START_ARGUMENTS, ...flags];
  return superviseEmulator(spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] }), flags);
}

/**
 * Waits until an emulator process prints its `ready` line, and returns the target that this line describes. If the
 * process exits early or is not ready in time, stops it and throws. `flags`: flags with which the process was started.
 */
export async function superviseEmulator(child: ChildProcess, flags: readonly string[] = []): Promise<EmulatorProcess> {
  const close = () => stopChild(child);
  try {
    const ready = await readReady(child);
    return { target: await readEmulatorTarget(ready, adminTokenOf(flags)), close };
  } catch (error) {
    await close();
    throw error;
  }
}

/**
 * Returns the admin token with which an emulator was started. It comes from `--admin-token`, otherwise from the
 * environment variable `EMULATOR_ADMIN_TOKEN`, which the child process inherits. Returns undefined if neither is set.
 */
function adminTokenOf(flags: readonly string[]): string | undefined {
  const { values } = parseArgs({ args: [...flags], options: { 'admin-token': { type: 'string' } }, strict: false });
  const given = values['admin-token'];
  return typeof given === 'string' ? given : process.env.EMULATOR_ADMIN_TOKEN;
}

async function readReady(child: ChildProcess): Promise<ReadyLine> {
  let complaint = '';
  child.stderr?.on('data', (part: Buffer) => {
    complaint = (complaint + part.toString('utf8')).slice(-4000);
  });
  return new Promise<ReadyLine>((resolve, reject) => {
    const late = new Error(`the emulator was not ready within ${START_TIMEOUT / 1000} s`);
    const timer = setTimeout(() => reject(late), START_TIMEOUT);
    const settle = (act: () => void) => {
      clearTimeout(timer);
      act();
    };
    child.once('error', (error) => settle(() => reject(error)));
    child.once('exit', (code) =>
      settle(() => reject(new Error(`the emulator exited with ${code}: ${complaint.trim()}`))),
    );
    if (child.stdout === null) return;
    createInterface({ input: child.stdout }).on('line', (line) => {
      const value = parseJson(line) as Partial<ReadyLine> | null | undefined;
      if (value?.event === 'ready') settle(() => resolve(value as ReadyLine));
    });
  });
}

async function stopChild(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT);
  await ended;
  clearTimeout(timer);
}
