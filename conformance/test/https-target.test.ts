import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import t from 'tap';
import type { Report } from '../index.js';
import { packageRoot } from '../run/version.js';

/*
 * Ids of rules that this test checks on HTTPS hosts with the names of remote services. In fact, a proxy forwards these
 * hosts to an emulator on this machine. The environment variable `https_proxy` names the proxy, and
 * `NODE_EXTRA_CA_CERTS` makes its certificate trusted.
 */
const RULES = 'general.https,general.base-url.org-subdomain,general.bearer.required,repo.get.route,git.push';
const mainOf = (file: string) => JSON.stringify(new URL(file, import.meta.url).href);
const scriptOf = (file: string) =>
  `process.exitCode = await (await import(${mainOf(file)})).main(process.argv.slice(1))`;
const suite = scriptOf('../cli/main.js');

async function check(apiHost: string, { org = 'demo', gitUrl = 'https://git.example.test', rules = RULES } = {}) {
  const inner = [process.execPath, '--input-type=module', '--eval', suite, '--', 'run'];
  if (rules !== '') inner.push('--only', rules);
  inner.push('--base-url', `https://${apiHost}`, '--git-url', gitUrl, '--org', org, '--write');
  inner.push(
    '--rate',
    'unlimited',
    '--quiet',
    '--reporter',
    'json',
    '--key',
    `${packageRoot()}/fixtures/keys/es256.pem`,
  );
  const emulator = join(packageRoot(), 'bin', 'emulator.js');
  const hosts = ['--api-host', apiHost, '--git-host', 'git.example.test'];
  const child = spawn(process.execPath, [emulator, 'exec', '--log', 'quiet', '--org', org, ...hosts, '--', ...inner]);
  let out = '';
  let err = '';
  child.stdout.on('data', (part) => {
    out += part;
  });
  child.stderr.on('data', (part) => {
    err += part;
  });
  const [code] = await once(child, 'close');
  return { code, err, report: JSON.parse(out) as Report };
}

const verdictsOf = ({ rules }: Report) =>
  Object.fromEntries(rules.filter(({ id }) => RULES.includes(id)).map(({ id, verdict }) => [id, verdict]));

t.test('rules about HTTPS and the host name of an organization are checked', async (t) => {
  const { code, err, report } = await check('api.demo.example.test');
  t.same([code, err], [0, '']);
  t.same(verdictsOf(report), Object.fromEntries(RULES.split(',').map((id) => [id, 'pass'])));
});

t.test('the emulator conforms over HTTPS as well', async (t) => {
  const { code, report } = await check('api.demo.example.test', { rules: '' });
  t.same([code, report.rules.filter(({ verdict }) => !['pass', 'observed', 'skip'].includes(verdict))], [0, []]);
  t.ok((report.coverage?.checked ?? 0) > 600, `${report.coverage?.checked} rules are checked`);
});

t.test('a host name with another organization breaks the rule', async (t) => {
  const { code, report } = await check('api.other.example.test');
  t.equal(code, 1);
  t.match(verdictsOf(report), { 'general.https': 'pass', 'general.base-url.org-subdomain': 'fail' });
});

t.test('remotes without TLS break the rule', async (t) => {
  const { report } = await check('api.demo.example.test', {
    gitUrl: 'http://git.example.test',
    rules: 'general.https',
  });
  t.match(verdictsOf(report), { 'general.https': 'fail' });
});
