import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import type { GivenOptions } from '../config/options.js';
import { hasGit } from '../test/git/git-upstream.js';
import { WebhookReceiver } from '../test/operations/webhook-receiver.js';
import { type Service, startService } from '../test/service.js';
import { stateDigest } from '../test/world/state-digest.js';
import { readAll, touchEverything } from '../test/world/world-story.js';

// needs: git

const TAR = { 'content-type': 'application/x-tar' };
const CLOCK = Date.parse('2026-01-01T00:00:00Z');

async function start(t: Test, options: GivenOptions = {}): Promise<Service> {
  const service = await startService({ clock: CLOCK, org: ['demo', 'other'], ...options });
  t.teardown(() => service.emulator.close({ graceMs: 0 }));
  return service;
}

async function exported(service: Service, secrets = true): Promise<Buffer> {
  const response = await service.call('POST', '/_emulator/export', { token: null, json: { include_secrets: secrets } });
  t.equal(response.status, 200, response.text.slice(0, 200));
  return response.bytes;
}

const importInto = (service: Service, body: Buffer) =>
  service.call('POST', '/_emulator/import', { token: null, headers: TAR, body });

/**
 * Returns everything that clients can read from the service, including the records of webhook deliveries. Replaces
 * ports, because they differ between two services.
 */
async function read(service: Service): Promise<string[]> {
  const responses = await readAll(service);
  return responses.map((response) => response.replaceAll(/127\.0\.0\.1:\d+/g, 'HOST'));
}

/** Fills an emulator with all kinds of content that an export contains. */
async function fill(service: Service, receiver: WebhookReceiver): Promise<void> {
  const { emulator } = service;
  await touchEverything(service, receiver, 'one');
  const [delivery] = service.emulator.outbox();
  await service.call('POST', `/_emulator/webhooks/outbox/${delivery!.id}/resend`, { token: null });
  await service.call('POST', '/api/repos', {
    repo: 'mirror',
    json: { base_repo: { provider: 'gitea', owner: 'acme', name: 'app', upstream_host: '127.0.0.1:1' } },
  });
  await service.world.background.syncs.idle();
  while (emulator.outbox().some(({ attempts }) => attempts.length === 0))
    await new Promise((resolve) => setImmediate(resolve));
  await service.call('POST', '/api/repos', {
    repo: 'fork',
    json: { base_repo: { provider: 'code', name: 'a', auth: { token: await service.token({ repo: 'a' }) } } },
  });
  await service.seed('Team/APP', { 'ä/b.txt': 'x' });
  await service.seed('team/app', { c: 'y' });
  await service.seed('cold');
  await service.call('POST', '/api/v1/repos/git-credentials', {
    repo: 'cold',
    json: { username: 'u', password: 'canary-password' },
  });
  await service.seed('gone');
  await service.call('DELETE', '/api/repos/gone', { repo: 'gone' });
  await service.seed('gone', { again: 'yes' });
  await service.call('POST', '/api/repos', {
    repo: 'empty',
    scopes: ['repo:write', 'deployment:write'],
    json: { deployment: { env: { NAME: 'canary-env' } } },
  });
  await service.call('POST', '/api/v1/repos/branches/create', {
    repo: 'team/app',
    json: { target_branch: 'e', base_ref: 'main', target_is_ephemeral: true },
  });
  await emulator.repository('x', { org: 'other' }).seed({ a: 'of the other' });
  emulator.state.change({
    organizations: { other: { hosting: 'off' } },
    repositories: {
      cold: { state: 'archived', ends: { after: 'PT3S' }, retryAfter: 2 },
      fork: { state: 'thawing', ends: { requests: 3 } },
    },
    limits: { maxFiles: 7 },
  });
  emulator.quotas.change({ gateway: { capacity: 2_000, refill: '10/s' } });
  await emulator.clock.freeze();
}

async function receiverFor(t: Test): Promise<WebhookReceiver> {
  const receiver = await WebhookReceiver.start();
  t.teardown(() => receiver[Symbol.asyncDispose]());
  return receiver;
}

t.test('an imported export has the same responses and continues in the same way', async (t) => {
  const receiver = await receiverFor(t);
  const [one, two] = [await start(t), await start(t)];
  await fill(one, receiver);
  const archive = await exported(one);
  t.same(await exported(one), archive, 'an export changes nothing');
  await two.seed('to-be-replaced');
  const response = await importInto(two, archive);
  t.equal(response.status, 200, response.text);
  t.match(response.json, { content: 'world', repositories: 9 });
  t.same(await exported(two), archive, 'and is exported the same');
  t.match(
    two.emulator.outbox().find(({ resendOf }) => resendOf !== undefined),
    { state: 'delivered', resendOf: one.emulator.outbox()[0]!.id },
  );
  t.match((await two.call('GET', '/_emulator/repositories/mirror/sync', { token: null })).json, {
    runs: 1,
    last: { outcome: 'failed', error: /ECONNREFUSED/ },
  });
  for (const repo of ['a', 'cold', 'fork', 'fork', 'fork', 'fork', 'gone', 'Team/APP', 'team/app', 'empty']) {
    const [here, there] = [
      await one.call('GET', '/api/v1/repo', { repo }),
      await two.call('GET', '/api/v1/repo', { repo }),
    ];
    t.same([there.status, there.text], [here.status, here.text], repo);
  }
  t.same(await read(two), await read(one));
  await one.emulator.clock.tick();
  await two.emulator.clock.tick();
  // Skip the responses that depend on the counters of faults, because exports do not contain these counters.
  const local = (responses: string[]) =>
    responses
      .filter((each) => !each.startsWith('GET /api/v1/repo '))
      .map((each) => each.replaceAll(/127\.0\.0\.1:\d+/g, 'HOST').replaceAll(/[0-9a-f]{8}-[^ ]*\.\d+/g, 'SESSION'));
  const next = local(await touchEverything(one, receiver, 'two'));
  t.same(local(await touchEverything(two, receiver, 'two')), next);
  t.same(await read(two), await read(one));
  await two.emulator.reset();
  t.equal((await two.call('GET', '/api/v1/repo', { repo: 'a' })).status, 404, 'reset goes back to the start');
});

t.test('secrets are exported only on request, and private keys never', async (t) => {
  const receiver = await receiverFor(t);
  const service = await start(t);
  await fill(service, receiver);
  const secretive = (await exported(service, false)).toString('latin1');
  const open = (await exported(service, true)).toString('latin1');
  t.match(open, /"password":\s*"one"|"secret":\s*"one"/);
  t.match(open, /canary-env/);
  t.match(open, /canary-password/);
  for (const secret of [/canary-env/, /canary-password/, /"password"/, /"secret":/, /PRIVATE KEY/])
    t.notMatch(secretive, secret);
  t.notMatch(open, /PRIVATE KEY/);
});

t.test('git reads what was exported', { skip: !hasGit }, async (t) => {
  const receiver = await receiverFor(t);
  const service = await start(t);
  await fill(service, receiver);
  const folder = mkdtempSync(join(tmpdir(), 'export-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  execFileSync('tar', ['-xf', '-'], { cwd: folder, input: await exported(service) });
  t.same(readdirSync(folder).sort(), ['demo', 'emulator.json', 'other']);
  for (const name of [
    'demo/a',
    'demo/team/app',
    'demo/%54eam/%41%50%50',
    'demo/empty',
    'demo/gone',
    'demo/cold',
    'other/x',
  ]) {
    const path = join(folder, `${name}.git`);
    t.equal(
      execFileSync('git', ['fsck', '--strict', '--no-dangling'], {
        cwd: path,
        stdio: ['ignore', 'pipe', 'pipe'],
      }).toString(),
      '',
      name,
    );
    execFileSync('git', ['clone', '-q', path, join(folder, 'clones', name)], { stdio: 'ignore' });
  }
  t.equal(readFileSync(join(folder, 'clones/other/x/a'), 'utf8'), 'of the other');
  const back = await start(t);
  const again = execFileSync('tar', ['-cf', '-', '--exclude=clones', '.'], { cwd: folder, maxBuffer: 1 << 28 });
  t.equal((await importInto(back, again)).status, 200, 'in whatever order an archive has its files');
  t.same(await exported(back), await exported(service));
  execFileSync('git', ['gc', '-q', '--prune=now'], { cwd: join(folder, 'demo/a.git') });
  const packed = execFileSync('tar', ['-cf', '-', '--exclude=clones', '.'], { cwd: folder, maxBuffer: 1 << 28 });
  t.equal((await importInto(back, packed)).status, 200, 'also when Git has packed them anew');
});

t.test('an invalid export is refused as a whole', async (t) => {
  const receiver = await receiverFor(t);
  const service = await start(t);
  await fill(service, receiver);
  const folder = mkdtempSync(join(tmpdir(), 'import-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const archive = await exported(service);
  const digest = stateDigest(service.world);
  const { used } = service.world.engine.memory;
  const refuse = async (body: Buffer, message: RegExp, title: string) => {
    const response = await importInto(service, body);
    t.match([response.status, response.json?.detail], [/^4\d\d$/, message], `${title}: ${response.text.slice(0, 200)}`);
    t.equal(stateDigest(service.world), digest, title);
    t.equal(service.world.engine.memory.used, used, title);
  };
  for (const length of [0, 100, 512, 1024, 5000, archive.length - 1024, archive.length - 1])
    await refuse(archive.subarray(0, length), /./, `cut at ${length}`);
  await refuse(Buffer.from('not a tar'.repeat(200)), /not a tar archive/, 'no tar');
  const changed = (change: string) => {
    rmSync(join(folder, 'x'), { recursive: true, force: true });
    execFileSync('sh', ['-c', `mkdir x && cd x && tar -xf - && ${change}`], { cwd: folder, input: archive });
    return execFileSync('tar', ['-cPf', '-', '-C', 'x', '.'], { cwd: folder, maxBuffer: 1 << 28 });
  };
  const rows: [string, RegExp][] = [
    ['ln -s /etc/passwd link', /neither a file nor a folder/],
    ['ln emulator.json hard', /neither a file nor a folder/],
    ['rm emulator.json', /has no file emulator\.json/],
    ['echo x > emulator.json', /not valid JSON/],
    ['echo null > emulator.json', /another format/],
    [`sed -i 's/"version": 1/"version": 2/' emulator.json`, /format version 2/],
    [`sed -i 's/"requests": [0-9]*/"requests": "x"/' emulator.json`, /world\.requests/],
    [`sed -i 's/"organization": "other"/"organization": "third"/' emulator.json`, /organization .* does not exist/],
    [`sed -i 's/"name": "other"/"name": "third"/' emulator.json`, /organization third.*--org/],
    [`sed -i 's|demo/cold.git|../cold.git|' emulator.json`, /cannot be in the folder/],
    [`sed -i 's|demo/cold.git|demo/empty.git|' emulator.json`, /cannot be in the folder/],
    [`sed -i 's|"maxFiles"|"maxHeldBytes"|' emulator.json`, /can only be set when/],
    ['sed -i s/archived/active/ demo/cold.git/record-*', /checksum|was changed/],
    ['rm -r demo/cold.git', /has no file demo\/cold\.git\/record/],
    ['rm demo/cold.git/objects/pack/*.pack', /is incomplete|not in this/],
    [
      `printf x | dd of=$(ls demo/cold.git/objects/pack/*.pack) bs=1 seek=40 conv=notrunc 2>/dev/null`,
      /cannot be imported|is incomplete/,
    ],
    [
      `for f in $(find . -path '*lfs/objects/*' -type f); do printf x | dd of=$f conv=notrunc 2>/dev/null; done`,
      /content of the LFS object .* does not match/,
    ],
    [
      `for f in $(find . -path '*lfs/objects/*' -type f); do printf x >> $f; done`,
      /content of the LFS object .* does not match/,
    ],
    [`for f in $(find . -path '*lfs/objects/*' -type f); do rm -f $f; done`, /LFS object .* is missing/],
  ];
  for (const [change, message] of rows) await refuse(changed(change), message, change);
  const tarOf = (args: string) => execFileSync('sh', ['-c', args], { cwd: folder, maxBuffer: 1 << 28 });
  changed('true');
  await refuse(tarOf(`tar --hard-dereference -cPf - -C x emulator.json emulator.json`), /twice/, 'twice');
  await refuse(tarOf(`tar -cPf - --transform 's|^|../|' -C x emulator.json`), /leads outside/, 'traversal');
  await refuse(tarOf(`tar -cPf - --transform 's|^|/|' -C x emulator.json`), /leads outside/, 'absolute');
  for (const type of ['application/json', 'text/plain'])
    t.equal(
      (
        await service.call('POST', '/_emulator/import', {
          token: null,
          headers: { 'content-type': type },
          body: archive,
        })
      ).status,
      415,
    );
  t.equal((await service.call('POST', '/_emulator/reset', { token: null, headers: TAR, body: archive })).status, 415);
  t.equal(statSync(folder).isDirectory(), true);
});
