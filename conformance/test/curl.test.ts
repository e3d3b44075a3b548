import { execFile, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';
import { COMMIT_PACK, packLines } from '../api/commit-pack.js';
import type { TokenRecipe } from '../auth/tokens.js';
import type { RequestOptions } from '../check/rule-context.js';
import type { Exchange } from '../http/exchange.js';
import { writeCurl } from '../report/curl.js';
import { packageRoot } from '../run/version.js';
import { contextsOf } from './new-context.js';
import { startNamespace } from './shared-emulator.js';

t.setTimeout(180_000);
const target = await startNamespace(t);

const context = contextsOf(t)(target);

const repo = "curl/a.b'c";
const reader: TokenRecipe = { repo, scopes: ['git:read'] };
const writer: TokenRecipe = { repo, scopes: ['git:write'] };
await context.post('/api/repos', { as: { repo, scopes: ['repo:write'] } });
await context.post(COMMIT_PACK, { as: writer, lines: packLines(context, { 'first.txt': 'first' }) });
const now = Math.floor(Date.now() / 1000);
const token = context.token({ repo });
const basic = (user: string) => `Basic ${Buffer.from(`${user}:${context.token(reader)}`).toString('base64')}`;
const gitPath = `/${repo.split('/').map(encodeURIComponent).join('/')}.git`;
const git = { git: true, origin: target.gitUrl, recipe: reader };

/**
 * One request of each kind that rules send. The tests convert each request to a curl command, and check that curl sends
 * the same request.
 */
const REQUESTS: readonly (readonly [what: string, method: string, path: string, options?: RequestOptions])[] = [
  ['no token', 'GET', '/api/v1/repo'],
  ['a token', 'GET', '/api/v1/repo', { as: reader }],
  ['a token of a deleted key', 'GET', '/api/v1/repo', { as: { ...reader, key: 'deleted' } }],
  ['a token of an RSA key', 'GET', '/api/v1/repo', { as: { ...reader, key: 'RS256' } }],
  ['a token of another organization', 'GET', '/api/v1/repo', { as: { ...reader, key: 'second' } }],
  ['an unsigned token', 'GET', '/api/v1/repo', { as: { ...reader, defect: 'unsigned' } }],
  ['an expired token', 'GET', '/api/v1/repo', { as: { ...reader, claims: { iat: now - 900, exp: now - 300 } } }],
  ['a token that is valid in an hour', 'GET', '/api/v1/repo', { as: { ...reader, claims: { nbf: now + 3600 } } }],
  ['a long claim', 'GET', '/api/v1/repo', { as: { ...reader, claims: { note: "it's $HOME `x` ".repeat(100) } } }],
  ['a scheme in lower case', 'GET', '/api/v1/repo', { headers: { authorization: `bearer ${token}` } }],
  ['a scheme that is not known', 'GET', '/api/v1/repo', { headers: { authorization: `Token ${token}` } }],
  ['Basic on the API', 'GET', '/api/v1/repo', { headers: { authorization: basic('t') } }],
  ['a token in a cookie', 'GET', '/api/v1/repo', { headers: { cookie: `token=${token}; b="x"` } }],
  ['a token in the query', 'GET', `/api/v1/repo?access_token=${token}`],
  ['a bearer value that is no JWT', 'GET', '/api/v1/repo', { headers: { authorization: 'Bearer e30.e30.e30' } }],
  ['nothing behind Bearer', 'GET', '/api/v1/repo', { headers: { authorization: 'Bearer' } }],
  ['a field without a value', 'GET', '/api/v1/repo', { as: reader, headers: { accept: '' } }],
  ['a field in Latin-1', 'GET', '/api/v1/repo', { as: reader, headers: { 'x-name': 'é "$x"' } }],
  ['brackets', 'GET', '/api/v1/repos/files?ref=[1-3]', { as: reader }],
  ['braces', 'GET', '/api/v1/repos/files?ref={a,b}', { as: reader }],
  ['dots', 'GET', '/api/v1/../v1/./repo', { as: reader }],
  ['encoded slashes', 'GET', `/api/repos/${encodeURIComponent(repo)}`, { as: reader }],
  ['a path in Latin-1 with a number sign', 'GET', '/api/v1/répo#x', { as: reader }],
  ['HEAD', 'HEAD', '/api/v1/repo', { as: reader }],
  ['a method that is not known', 'BREW', '/api/v1/repo', { as: reader }],
  ['a failure that is forced', 'GET', '/api/v1/repo', { as: reader, fault: 'rate_limited;retry-after=2' }],
  ['POST without a body', 'POST', '/api/v1/repos/grep', { as: reader }],
  ['POST with an empty body', 'POST', '/api/v1/repos/grep', { as: reader, body: '' }],
  ['JSON', 'POST', '/api/v1/repos/grep', { as: reader, json: { query: { pattern: '\'"$`\\%s\\n' } } }],
  ['a body without a type', 'POST', '/api/v1/repos/grep', { as: reader, body: '@/etc/hosts\r\n' }],
  ['NDJSON', 'POST', COMMIT_PACK, { as: writer, lines: packLines(context, { 'a b.txt': "it's\n100 %\n" }) }],
  [
    'a large body',
    'POST',
    COMMIT_PACK,
    { as: writer, lines: packLines(context, { 'large.txt': 'x'.repeat(300_000) }) },
  ],
  ['a body that is too large', 'POST', '/api/v1/repos/grep', { as: reader, body: Buffer.alloc(9_000_000, 0x20) }],
  ['bytes', 'POST', '/api/v1/repos/grep', { as: reader, body: Buffer.from([0, 255, 10, 13, 0, 37, 92]) }],
  [
    'Git with Basic',
    'GET',
    `${gitPath}/info/refs?service=git-upload-pack`,
    { ...git, headers: { authorization: basic('t') } },
  ],
  [
    'pkt-lines',
    'POST',
    `${gitPath}/git-upload-pack`,
    {
      ...git,
      contentType: 'application/x-git-upload-pack-request',
      headers: { authorization: basic('it\'s "$me"'), 'git-protocol': 'version=2' },
      body: '0014command=ls-refs\n0000',
    },
  ],
];

/**
 * Temporary folder with a program `npx`, which the curl commands of this file call. The program runs the compiled
 * commands of this package. It caches the output of each command line, to save time.
 */
const folder = t.testdir({});
const npx = join(folder, 'npx');
const cli = `'${process.execPath}' '${join(packageRoot(), 'bin', 'conformance.js')}'`;
writeFileSync(
  npx,
  `#!/bin/sh
shift
kept=${folder}/$(printf %s "$*" | cksum | tr -d ' ')
[ -s $kept ] || ${cli} "$@" > $kept || exit
cat $kept
`,
);
chmodSync(npx, 0o755);

/** Runs a curl command from a report in a shell, and returns its standard output. */
async function runLine(line: string): Promise<string> {
  const env = { ...process.env, PATH: `${folder}:${process.env.PATH}` };
  const { stdout } = await promisify(execFile)('sh', ['-c', line], { env, maxBuffer: 64 * 1024 * 1024 });
  return stdout;
}

/** Returns the HTTP status and the error code of a response. Both must be equal when the request is repeated. */
function outcomeOf(status: string | number, body: string): string {
  return `${status} ${/"code": ?"([a-z_]+)"/.exec(body)?.[1] ?? ''}`.trim();
}

const isThere = spawnSync('curl', ['--version']).status === 0;
const skip = isThere ? false : 'curl is not installed';

t.test('the curl command of a report repeats the request in a shell', { skip }, async (t) => {
  const seen = new Map<string, Exchange>();
  for (const [what, method, path, options] of REQUESTS) {
    seen.set(what, (await context.request(method, path, options)).exchange);
  }
  for (const [what, exchange] of seen) {
    const line = writeCurl(exchange, target, now) ?? '';
    t.notMatch(line, '\n', `${what}: one line`);
    t.notMatch(line, /eyJ[A-Za-z0-9_-]{8,}\./, `${what}: no token`);
    const types = line.match(/content-type:/g)?.length ?? 0;
    t.equal(types, exchange.method === 'POST' ? 1 : 0, `${what}: curl adds no type of its own`);
    const printed = await runLine(line);
    const [, status] = /^HTTP\/1\.1 (?:100 Continue\r\n\r\nHTTP\/1\.1 )?(\d+)/.exec(printed) ?? [];
    const [, ...rest] = printed.split('\r\n\r\n');
    t.equal(outcomeOf(status ?? printed, rest.join()), outcomeOf(exchange.status, exchange.body.toString()), what);
  }
});

t.test('a request with a body too large for a command line has no curl command', async (t) => {
  const { exchange } = await context.get('/api/v1/repo');
  const post = { ...exchange, method: 'POST' };
  t.equal(writeCurl({ ...post, requestBody: randomBytes(200_000) }, target, now), undefined);
  t.type(writeCurl({ ...post, requestBody: Buffer.alloc(200_000) }, target, now), 'string');
});
