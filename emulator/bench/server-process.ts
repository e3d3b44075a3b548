import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** A server in a process of its own, which said where it listens. */
export interface ServerProcess extends AsyncDisposable {
  readonly origin: string;
  readonly pid: number;
  readonly child: ChildProcess;
}

/** The emulator as its users start it. */
export function spawnEmulator(
  flags: readonly string[] = [],
  nodeFlags: readonly string[] = [],
): Promise<ServerProcess> {
  const root = dirname(createRequire(import.meta.url).resolve('repohost-emulator/package.json'));
  return spawnServer([...nodeFlags, join(root, 'bin/emulator.js'), 'start', '--port', '0', '--log', 'quiet', ...flags]);
}

/** A peer from `servers/`, by the name of its file. */
export function spawnPeer(name: 'bare' | 'cgi', ...args: string[]): Promise<ServerProcess> {
  return spawnServer([fileURLToPath(new URL(`./servers/${name}.js`, import.meta.url)), ...args]);
}

/** Starts Node and waits for its first line: JSON with `base_url`. */
async function spawnServer(args: readonly string[]): Promise<ServerProcess> {
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit', 'ipc'] });
  // A run that fails leaves no process behind.
  const end = () => child.kill('SIGKILL');
  process.once('exit', end);
  child.once('exit', () => process.off('exit', end));
  const lines = createInterface({ input: child.stdout! });
  const [line] = (await Promise.race([
    once(lines, 'line'),
    once(child, 'exit').then(([code]) => Promise.reject(new Error(`${args.join(' ')} ended with ${code}`))),
  ])) as [string];
  const { base_url: origin } = JSON.parse(line) as { base_url: string };
  return {
    origin,
    pid: child.pid!,
    child,
    async [Symbol.asyncDispose]() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const exit = once(child, 'exit');
      child.kill('SIGTERM');
      await exit;
    },
  };
}
