import { readFile } from 'node:fs/promises';
import { defaultFixtureKey } from '../auth/fixture-keys.js';
import { mintToken } from '../auth/mint.js';
import type * as bundled from '../cli/main.js';
import type { Terminal } from '../cli/terminal.js';
import { BUNDLED } from './bundles.js';
import { Bundle } from './code-cache.js';
import { askFirst, type FirstRequest } from './first-requests.js';

/*
 * Last step of `npm run bundle`. Starts the emulator from the bundle, sends the typical first requests of a test suite,
 * and stops it. The code that V8 compiled for these requests is stored in files beside the bundle. Without this cache,
 * V8 would compile all code again in the first run of each command.
 */
const bundle = new Bundle(`${BUNDLED}emulator/cli.cjs`, undefined);
const { main } = bundle.load() as typeof bundled;
let end: Promise<number> | undefined;
const readyLine = await new Promise<string>((resolve, reject) => {
  end = main(['start', '--port', '0', '--log', 'quiet'], terminalThatPrintsTo(resolve));
  end.then((code) => reject(new Error(`the emulator exited with ${code}`)), reject);
});
const { base_url: origin, org } = JSON.parse(readyLine) as { base_url: string; org: string };
await askFirst(ask);
bundle.shipCode();
process.kill(process.pid, 'SIGTERM');
process.exitCode = await end;

async function signedFor(repo: string): Promise<string> {
  const privateKeyPem = await readFile(defaultFixtureKey().privateKeyFile, 'utf8');
  return mintToken({ privateKeyPem, org, repo, scopes: ['org:read', 'repo:write', 'git:read', 'git:write'] });
}

async function ask(
  repo: string,
  path: string,
  { body, type = 'application/json', status: expected = 200 }: FirstRequest = {},
): Promise<Buffer> {
  const version = type === 'application/x-git-upload-pack-request' && !`${body}`.includes('command=') ? '0' : '2';
  const response = await fetch(origin + path, {
    headers: {
      authorization: `Bearer ${await signedFor(repo)}`,
      'content-type': type,
      'git-protocol': `version=${version}`,
    },
    ...(body !== undefined && { method: 'POST', body }),
  });
  const bytes = Buffer.from(await response.arrayBuffer());
  if (response.status !== expected)
    throw new Error(`${path}: expected status ${expected}, got ${response.status}: ${bytes}`);
  return bytes;
}

function terminalThatPrintsTo(print: (text: string) => void): Terminal {
  return {
    print,
    printed: async () => undefined,
    warn: (text) => void process.stderr.write(text),
    input: async () => '',
    isInteractive: false,
    columns: 80,
    environment: {},
    now: () => Date.now(),
  };
}
