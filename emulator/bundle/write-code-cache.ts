import { execFileSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { defaultFixtureKey } from '../auth/fixture-keys.js';
import { mintToken } from '../auth/mint.js';
import type * as bundled from '../cli/main.js';
import type { Terminal } from '../cli/terminal.js';
import { BUNDLED } from './bundles.js';
import { Bundle } from './code-cache.js';

/*
 * The last step of `npm run bundle`: starts the emulator from the bundle, asks what a client asks first, keeps the code
 * that was compiled for it, and stops. The suite keeps its own, as it does wherever it is installed.
 */
const bundle = new Bundle();
const { main } = bundle.load(`${BUNDLED}emulator/cli.cjs`) as typeof bundled;
let end: Promise<number> | undefined;
const readyLine = await new Promise<string>((resolve, reject) => {
  end = main(['start', '--port', '0', '--log', 'quiet'], terminalThatPrintsTo(resolve));
  end.then((code) => reject(new Error(`the emulator ended with ${code}`)), reject);
});
const { base_url: origin, org } = JSON.parse(readyLine) as { base_url: string; org: string };
const repo = 'first';
const authorization = `Bearer ${await signedFor(org)}`;
await ask('/api/repos', 201, { method: 'POST', body: '{}' });
await ask('/api/repos', 200);
await ask(`/api/repos/${repo}`, 200);
await ask(`/${repo}.git/info/refs?service=git-upload-pack`, 200);
bundle.writeCache();
process.kill(process.pid, 'SIGTERM');
process.exitCode = await end;
execFileSync(process.execPath, [`${BUNDLED}../../bin/conformance.js`, 'list'], {
  stdio: ['ignore', 'ignore', 'inherit'],
});

async function signedFor(org: string): Promise<string> {
  const privateKeyPem = await readFile(defaultFixtureKey().privateKeyFile, 'utf8');
  return mintToken({ privateKeyPem, org, repo, scopes: ['org:read', 'repo:write', 'git:read'] });
}

async function ask(path: string, expected: number, request: { method?: string; body?: string } = {}): Promise<void> {
  const { status } = await fetch(origin + path, { ...request, headers: { authorization } });
  if (status !== expected) throw new Error(`${path} was answered with ${status}`);
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
