import type { Test } from 'tap';
import { type Emulator, type GivenOptions, startEmulator } from '../../index.js';
import { main } from '../main.js';

/** Runs a command in this process and captures its output. */
export async function run(argv: readonly string[], environment: Record<string, string> = {}, onPrint = () => {}) {
  const said = { code: -1, out: '', err: '' };
  said.code = await main(argv, {
    print: (text) => {
      said.out += text;
      onPrint();
    },
    printed: () => Promise.resolve(undefined),
    warn: (text) => {
      said.err += text;
    },
    input: async () => '',
    isInteractive: false,
    columns: 100,
    environment,
    now: () => 0,
  });
  return said;
}

/** Starts an emulator for one test. `ask` runs CLI commands against this emulator, in this process. */
export async function startAsked(t: Test, options: GivenOptions = {}) {
  const emulator = await startEmulator({ port: 0, clock: '2026-01-01T00:00:00Z', ...options });
  t.teardown(() => emulator.close({ graceMs: 0 }));
  return { emulator, ask: askerOf(emulator) };
}

/**
 * Returns two functions that run a command against the emulator. `text` passes the address in a flag. `json` passes it
 * in an environment variable, and parses the JSON output.
 */
function askerOf({ baseUrl }: Pick<Emulator, 'baseUrl'>) {
  const ask = async (...argv: string[]) => run([...argv, '--url', baseUrl]);
  const json = async (...argv: string[]) => {
    const { code, out, err } = await run([...argv, '--json'], { EMULATOR_URL: `${baseUrl}/` });
    return { code, err, json: out === '' ? undefined : JSON.parse(out) };
  };
  return { text: ask, json };
}
