import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';

// needs: git

// Tests on a machine that has only a loopback network. unshare(1) creates it with network_namespaces(7), which a normal
// user may do.
const ROOT = fileURLToPath(new URL('../../../../', import.meta.url));
const BIN = join(ROOT, 'bin');

function withoutNetwork(script: string) {
  const { status, stdout, stderr } = spawnSync(
    'unshare',
    ['--net', '--map-root-user', 'sh', '-ec', `ip link set lo up\n${script}`],
    { encoding: 'utf8', timeout: 120_000, env: { ...process.env, NODE: process.execPath, BIN, NO_COLOR: '1' } },
  );
  return { status, said: `${stdout ?? ''}${stderr ?? ''}` };
}

const { status, said } = withoutNetwork('true');
const skip = status === 0 ? false : `no network namespace can be made here: ${said.trim() || 'unshare is missing'}`;

t.test('there is no network there', { skip }, async (t) => {
  const reached = withoutNetwork(`"$NODE" -e "fetch('http://192.0.2.1/').catch((e) => console.log(e.cause.code))"`);
  t.match(reached.said, 'ENETUNREACH');
});

t.test('the emulator serves its API and Git without a network', { skip }, async (t) => {
  const push = `
    git init -q -b main work && cd work && git config user.name A && git config user.email a@x
    git commit -q --allow-empty -m First
    curl -sf -X POST -H "Authorization: Bearer $EMULATOR_TOKEN" "$EMULATOR_URL/api/repos" >/dev/null
    git push -q "$(echo "$EMULATOR_GIT_URL" | sed "s#://#://t:$EMULATOR_TOKEN@#")/team/app.git" main`;
  const script = `cd "${t.testdir({})}" && "$NODE" "$BIN/emulator.js" exec --log quiet -- sh -ec '${push}' && echo pushed`;
  t.match(withoutNetwork(script), { status: 0, said: 'pushed' });
});

t.test('the suite checks an emulator without a network', { skip }, async (t) => {
  const { status, said } = withoutNetwork('"$NODE" "$BIN/conformance.js" run --quiet --only "repo,git,event,hook"');
  t.equal(status, 0, said);
  t.match(said, 'conforms');
});
