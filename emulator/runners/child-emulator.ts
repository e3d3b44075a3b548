import { fork } from 'node:child_process';
import { once } from 'node:events';
import { type ConnectedEmulator, connectEmulator, type GivenOptions } from '../index.js';
import { packageFile } from '../system/package-root.js';
import type { StartedProcess } from './emulator-process.js';

/** Emulator in a child process, and the function that ends this process. */
export interface ChildEmulator {
  readonly emulator: ConnectedEmulator;
  /** Closes the emulator. Resolves when its process has ended. */
  close(): Promise<void>;
}

/**
 * Starts an emulator in a child process, so that it responds while this process is blocked, for example by
 * `execFileSync`. The child ends when this process ends, for whatever reason. Rejects with an `Error` that states why
 * the emulator cannot start.
 */
export async function startChild(options: GivenOptions): Promise<ChildEmulator> {
  const file = packageFile('dist', 'bundle', 'emulator', 'emulator-process.cjs');
  const child = fork(file, {
    // Without the arguments of this process, such as `--test` or the modules that a test runner loads.
    execArgv: [],
    serialization: 'advanced',
    // Test runners read the standard output of this process, so the child must not write to it.
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const exited = once(child, 'exit');
  const close = async (): Promise<void> => {
    child.ref();
    if (child.connected) child.disconnect();
    await exited;
  };
  try {
    const ended = exited.then(([code, signal]) => {
      throw new Error(`The process of the emulator ended before it was ready (${signal ?? `exit code ${code}`}).`);
    });
    const answered = once(child, 'message');
    child.send(options);
    const [answer] = (await Promise.race([answered, ended])) as [StartedProcess];
    if ('error' in answer) throw new Error(answer.error);
    const emulator = await connectEmulator(answer.url, { adminToken: answer.adminToken });
    // A test runner that never calls `close` can end nevertheless.
    child.unref();
    child.channel?.unref();
    return { emulator, close };
  } catch (error) {
    await close();
    throw error;
  }
}
