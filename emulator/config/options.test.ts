import { join } from 'node:path';
import t from 'tap';
import { DEFAULT_LIMITS } from './limits.js';
import { type Flags, type GivenOptions, OptionError, optionRows, readOptions, resolveOptions } from './options.js';
import { DEFAULT_VARIANTS } from './variants.js';

/** Returns the message of the `OptionError` that `run` throws. Returns 'accepted' if it throws nothing. */
function refusal(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    if (error instanceof OptionError) return error.message;
    throw error;
  }
  return 'accepted';
}

t.test('without anything given, every option has its default', async (t) => {
  const defaults = {
    host: '127.0.0.1',
    port: 8080,
    org: ['demo'],
    tls: false,
    tlsPort: 0,
    tlsCert: undefined,
    tlsKey: undefined,
    publicUrl: undefined,
    publicGitUrl: undefined,
    cors: [],
    readyFile: undefined,
    exitWithParent: false,
    log: 'pretty',
    clock: 'real',
    seed: '1',
    variants: DEFAULT_VARIANTS,
    allowedHost: [],
    namespacePorts: [0],
    adminToken: undefined,
    key: [],
    testKeys: undefined,
    upstreamHost: {},
    allowUpstream: [],
    allowWebhook: [],
    webhookPrefix: 'X-Pierre',
    forgePrefix: 'forge',
    forgeApps: 1,
    hosting: 'on',
    fsck: 'strict',
    inbandFaults: undefined,
    adversarial: false,
    import: undefined,
    persist: undefined,
    includeSecrets: false,
    limits: DEFAULT_LIMITS,
  };
  t.same(resolveOptions(), defaults);
  t.same(readOptions({}, {}), defaults);
});

t.test('a flag overrides its variable, and a variable overrides the default', async (t) => {
  const environment = { EMULATOR_PORT: '1', EMULATOR_ORG: 'a,b', EMULATOR_IDLE_TIMEOUT: '500ms', EMULATOR_SEED: '' };
  const options = readOptions({ port: ['2'], org: ['c', 'd'] }, environment);
  t.equal(options.port, 2);
  t.same(options.org, ['c', 'd']);
  t.equal(options.limits.idleTimeout, 500);
  t.equal(options.seed, '1', 'an empty variable is one that is not set');
  t.same(readOptions({}, environment).org, ['a', 'b'], 'a variable holds several values between commas');
});

t.test('options that override a scenario are recorded, also when options are read again', async (t) => {
  const given = readOptions({ scenario: ['s.yaml'], clock: ['2026-01-01T00:00:00Z'] }, { EMULATOR_SEED: '' });
  t.strictSame(given.scenario, { file: 's.yaml', source: '--scenario', over: ['clock'] });
  t.strictSame(resolveOptions(given).scenario, given.scenario);
  t.strictSame(resolveOptions({ scenario: 's.yaml', seed: '2' }).scenario, {
    file: 's.yaml',
    source: 'scenario',
    over: ['seed'],
  });
});

t.test('every row names a flag, its variable and a default that is read back as the default', async (t) => {
  for (const row of optionRows()) {
    t.match(row.flag, /^[a-z]+(-[a-z]+)*$/);
    t.equal(row.variable, `EMULATOR_${row.flag.toUpperCase().replaceAll('-', '_')}`);
    t.match(row.help, /^[A-Z].*\.$/, row.flag);
    const flags: Flags = row.shownDefault === '' ? {} : { [row.flag]: [row.shownDefault] };
    t.same(readOptions(flags, {}), resolveOptions(), `--${row.flag} ${row.shownDefault}`);
  }
  t.ok(optionRows().some(({ flag }) => flag === 'max-json-bytes'));
});

t.test('values are read by their kind', async (t) => {
  const accepted: [Flags, GivenOptions][] = [
    [{ port: ['0'] }, { port: 0 }],
    [{ 'max-json-bytes': ['512KiB'] }, { limits: { maxJsonBytes: 524_288 } }],
    [{ 'max-json-bytes': ['7'] }, { limits: { maxJsonBytes: 7 } }],
    [{ 'max-push-bytes': ['2GiB'] }, { limits: { maxPushBytes: 2 ** 31 } }],
    [{ 'drain-timeout': ['2m'] }, { limits: { drainTimeout: 120_000 } }],
    [{ 'max-sockets': ['9'] }, { limits: { maxSockets: 9 } }],
    [{ clock: ['2026-01-01T00:00:00Z'] }, { clock: Date.UTC(2026, 0, 1) }],
    [{ clock: ['2026-01-01'] }, { clock: Date.UTC(2026, 0, 1) }],
    [{ clock: ['2026-01-01T02:00+02:00'] }, { clock: '2026-01-01T00:00:00.000Z' }],
    [{ seed: ['7'] }, { seed: '7' }],
    [
      { 'upstream-host': ['forge=http://127.0.0.1:1/x', 'b=https://h'] },
      {
        upstreamHost: { forge: 'http://127.0.0.1:1/x', b: 'https://h' },
      },
    ],
    [{ 'allow-upstream': ['a.test', 'b.test'] }, { allowUpstream: ['a.test', 'b.test'] }],
    [
      { fsck: ['off'], log: ['quiet'] },
      { fsck: 'off', log: 'quiet' },
    ],
  ];
  for (const [flags, given] of accepted) {
    t.same(readOptions(flags, {}), resolveOptions(given), JSON.stringify(flags));
  }
});

t.test('variants come from a file or an object', async (t) => {
  const folder = t.testdir({
    'good.json': '{"restoreNoop":"201"}',
    'bad.json': '{"restoreNoop":"500"}',
    'no.json': '{',
    'deep.json': `{"restoreNoop":${'['.repeat(50_000)}${']'.repeat(50_000)}}`,
  });
  const expected = { ...DEFAULT_VARIANTS, restoreNoop: '201' };
  t.same(readOptions({ variants: [join(folder, 'good.json')] }, {}).variants, expected);
  t.same(resolveOptions({ variants: { restoreNoop: '201' } }).variants, expected);
  for (const file of ['bad.json', 'no.json', 'deep.json', 'absent.json']) {
    t.match(
      refusal(() => readOptions({ variants: [join(folder, file)] }, {})),
      /^--variants cannot be used: (?!.*call stack).+[^.]\.$/,
    );
  }
});

t.test('an invalid value is refused in one sentence with its source', async (t) => {
  const flags: [Flags, string][] = [
    [{ port: ['x'] }, '--port must be a whole number from 0 to 65535, not "x".'],
    [{ port: ['65536'] }, '--port must be a whole number from 0 to 65535, not "65536".'],
    [{ port: ['-1'] }, '--port must be a whole number from 0 to 65535, not "-1".'],
    [{ port: ['1', '2'] }, '--port was given more than once, but is allowed only once.'],
    [
      { org: ['Demo'] },
      '--org must be a name of lower-case letters, digits and dashes, as in a host name, not "Demo".',
    ],
    [{ org: ['a', 'a'] }, '--org has the value "a" twice.'],
    [{ org: [''] }, '--org must have at least 1 value.'],
    [{ log: ['loud'] }, '--log must be one of pretty, json, quiet, not "loud".'],
    [{ clock: ['now'] }, '--clock must be "real" or an ISO 8601 time such as 2026-01-01T00:00:00Z, not "now".'],
    [{ 'idle-timeout': ['30'] }, '--idle-timeout must be a duration such as 500ms, 30s or 5m, not "30".'],
    [{ 'max-json-bytes': ['1MB'] }, '--max-json-bytes must be a size such as 512KiB, 4MiB or 2GiB, not "1MB".'],
    [{ 'max-files': ['1.5'] }, '--max-files must be a whole number of 0 or more, not "1.5".'],
    [{ host: [''] }, '--host must be an address, not "".'],
  ];
  for (const [given, sentence] of flags)
    t.equal(
      refusal(() => readOptions(given, {})),
      sentence,
    );
  for (const value of ['forge', 'forge=', 'forge=ftp://x', '=http://x', 'forge=http//']) {
    t.match(
      refusal(() => readOptions({ 'upstream-host': [value] }, {})),
      /^--upstream-host must be NAME=URL/,
    );
  }
  t.match(
    refusal(() => readOptions({}, { EMULATOR_PORT: 'x' })),
    /^EMULATOR_PORT must be/,
  );
  t.match(
    refusal(() => resolveOptions({ port: 1.5 })),
    /^port must be/,
  );
  t.match(
    refusal(() => resolveOptions({ limits: { maxFiles: -1 } })),
    /^maxFiles must be/,
  );
  t.equal(
    refusal(() => resolveOptions({ prot: 1 } as GivenOptions)),
    'Unknown option "prot". The command "emulator options" lists all options and limits.',
  );
  t.equal(
    refusal(() => resolveOptions({ maxFiles: 1 } as GivenOptions)),
    'Unknown option "maxFiles". The command "emulator options" lists all options and limits.',
  );
  t.equal(
    refusal(() => resolveOptions({ limits: { port: 1 } as never })),
    'Unknown limit "port". The command "emulator options" lists all options and limits.',
  );
});
