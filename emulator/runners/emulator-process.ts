import { readFile } from 'node:fs/promises';
import { type Emulator, type GivenOptions, startEmulator } from '../index.js';

/*
 * Program that `withEmulator({ process: true })` runs as a child process. It receives the options of the emulator as a
 * message, and sends a `StartedProcess` as the answer. It ends when its parent disconnects or ends.
 */

/** Message to the parent process: the address of the emulator, or the reason why it could not be started. */
export type StartedProcess =
  | { readonly url: string; readonly adminToken: string | undefined }
  | { readonly error: string };

const started: { emulator?: Promise<Emulator> } = {};

process.once('message', async (options: GivenOptions) => {
  started.emulator = startEmulator(options);
  const answer = await started.emulator.then(
    async (emulator) => ({
      url: emulator.localUrl ?? emulator.baseUrl,
      adminToken: await readToken(options, emulator),
    }),
    (error: Error) => ({ error: error.message }),
  );
  if (process.connected) process.send!(answer satisfies StartedProcess);
});

process.once('disconnect', async () => {
  const emulator = await started.emulator?.catch(() => undefined);
  await emulator?.close({ graceMs: 0 });
  process.exit();
});

// Ctrl+C in a terminal signals the parent too. The parent then ends, and this process closes its emulator first.
process.on('SIGINT', () => {});

async function readToken({ adminToken }: GivenOptions, { adminTokenFile }: Emulator): Promise<string | undefined> {
  return adminTokenFile === undefined ? adminToken : (await readFile(adminTokenFile, 'utf8')).trim();
}
