import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';
import { build } from 'rolldown';
import t, { type Test } from 'tap';
import { startService } from '../service.js';

// needs: chromium

const EXECUTABLE = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium'].find((path) => existsSync(path)) ?? '';
const skip = EXECUTABLE === '' && 'Chromium is not installed: apt-get install chromium-headless-shell';

const require = createRequire(import.meta.url);

/** Returns the text of one script with isomorphic-git, a file system in IndexedDB, and the published client. */
async function browserScript(): Promise<string> {
  const git = dirname(require.resolve('isomorphic-git'));
  return [
    // isomorphic-git needs the global `Buffer` in browsers.
    await bundle('buffer/index.js', 'buffer'),
    'globalThis.Buffer = buffer.Buffer;',
    readFileSync(join(git, 'index.umd.min.js'), 'utf8'),
    readFileSync(join(git, 'http/web/index.umd.js'), 'utf8'),
    await bundle('@isomorphic-git/lightning-fs', 'LightningFS'),
    await bundle('@pierre/storage', 'client'),
  ].join('\n;\n');
}

/** Returns a script that defines the exports of an npm package as a global variable. */
async function bundle(name: string, variable: string): Promise<string> {
  const { output } = await build({
    input: fileURLToPath(import.meta.resolve(name)),
    platform: 'browser',
    write: false,
    output: { format: 'iife', name: variable },
  });
  return output[0].code;
}

/** Starts a web site with an empty page that loads `script`. Returns its origin. */
async function serveSite(t: Test, script: string): Promise<string> {
  const server = createServer(({ url }, response) => {
    const isScript = url === '/script.js';
    response.setHeader('content-type', isScript ? 'text/javascript; charset=utf-8' : 'text/html');
    response.end(isScript ? script : '<!doctype html><script src="/script.js"></script>');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

t.test(
  'in Chromium, isomorphic-git and the published client use the emulator from another origin',
  { skip },
  async (t) => {
    const site = await serveSite(t, await browserScript());
    const service = await startService({ cors: site });
    const closed = await startService({});
    t.teardown(() => Promise.all([service, closed].map(({ emulator }) => emulator.close({ graceMs: 0 }))));
    await service.seed('team/app', { 'a.txt': 'one\n' });
    const args = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
    const browser = await chromium.launch({ executablePath: EXECUTABLE, args });
    t.teardown(() => browser.close());
    const page = await browser.newPage();
    page.on('pageerror', (error) => t.fail(error.message));
    await page.goto(site);

    const token = await service.token({ repo: 'team/app' });
    const read = await page.evaluate(readRepository, { url: service.url, token });
    t.match(read, { status: 200, id: /^req-/, refused: 401, code: 'unauthorized' });
    const admin = page.evaluate((url) => fetch(`${url}/_emulator/health`).then(({ status }) => status), service.url);
    await t.rejects(admin, /Failed to fetch/, 'the admin API stays closed');
    const without = page.evaluate(readRepository, { url: closed.url, token });
    await t.rejects(without, /Failed to fetch/, 'without the option, the browser refuses access');

    const git = await page.evaluate(cloneAndPush, { url: `${service.url}/team/app.git`, token });
    t.equal(git.text, 'one\n');
    const file = await service.call('GET', '/api/v1/repos/file?path=b.txt', { repo: 'team/app' });
    t.equal(file.text, 'two\n', 'the push arrived');

    const key = readFileSync(service.emulator.keyFile, 'utf8');
    const { org, gitHost } = service.emulator;
    const listed = await page.evaluate(useClient, { url: service.url, org, key, gitHost });
    t.strictSame(listed, { branches: ['main', 'next'], missing: null });
  },
);

// The functions below run in the page, which has the globals of the scripts.

declare const git: typeof import('isomorphic-git');
declare const GitHttp: import('isomorphic-git').HttpClient;
declare const LightningFS: typeof import('@isomorphic-git/lightning-fs');
declare const client: typeof import('@pierre/storage');

async function readRepository({ url, token }: { url: string; token: string }) {
  const response = await fetch(`${url}/api/v1/repo`, { headers: { authorization: `Bearer ${token}` } });
  const refused = await fetch(`${url}/api/v1/repo`);
  const { code } = (await refused.json()) as { code: string };
  return { status: response.status, id: response.headers.get('x-request-id'), refused: refused.status, code };
}

async function cloneAndPush({ url, token }: { url: string; token: string }) {
  const fs = new LightningFS('work', { wipe: true });
  const common = { fs, http: GitHttp, dir: '/app', onAuth: () => ({ username: 't', password: token }) };
  await git.clone({ ...common, url });
  const text = await fs.promises.readFile('/app/a.txt', 'utf8');
  await fs.promises.writeFile('/app/b.txt', 'two\n');
  await git.add({ ...common, filepath: 'b.txt' });
  await git.commit({ ...common, message: 'Second', author: { name: 'Ada', email: 'ada@example.com' } });
  await git.push(common);
  return { text };
}

/**
 * Creates a repository and a branch, and reads. The client's commits are not tried, because Chromium sends streamed
 * request bodies only over HTTP/2.
 */
async function useClient({ url, org, key, gitHost }: Record<'url' | 'org' | 'key' | 'gitHost', string>) {
  const store = new client.GitStorage({ name: org, key, apiBaseUrl: url, storageBaseUrl: gitHost });
  await store.createRepo({ id: 'team/browser' });
  const repo = await store.findOne({ id: 'team/app' });
  await repo?.createBranch({ baseBranch: 'main', targetBranch: 'next' });
  const { branches } = (await repo?.listBranches()) ?? { branches: [] };
  const missing = await store.findOne({ id: 'team/nothing' });
  return { branches: branches.map(({ name }) => name), missing };
}
