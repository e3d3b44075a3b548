import { execFileSync } from 'node:child_process';
import { chmodSync, copyFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { fixtureKeys } from '../../auth/fixture-keys.js';
import { linearHistory } from '../../git/test/history.js';
import { Workbench } from '../../git/test/workbench.js';
import { startService } from '../service.js';

// Tests the push policy `verify-sig`, which requires that each new commit is signed with a registered key of the
// organization. Git makes the signatures, and the emulator must find the key of each.

/**
 * Writes a private key for signed pushes. Returns the path of the file. Git signs with ssh-keygen, which requires that
 * only the owner can read the file, and that the public key is in a file next to it.
 */
function signingKey(bench: Workbench, id: string): string {
  const path = join(bench.path, `${id}.pem`);
  copyFileSync(fixtureKeys().find((key) => key.id === id)!.privateKeyFile, path);
  chmodSync(path, 0o600);
  writeFileSync(`${path}.pub`, execFileSync('ssh-keygen', ['-y', '-f', path]));
  return path;
}

function lacksSshKeygen(): false | string {
  try {
    execFileSync('ssh-keygen', ['-Y', 'sign'], { stdio: 'ignore' });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return 'no ssh-keygen here';
  }
  return false;
}

t.test('a push under verify-sig needs the signature of a registered key', { skip: lacksSshKeygen() }, async (t) => {
  const service = await startService();
  const bench = await Workbench.create();
  t.teardown(async () => {
    await service.emulator.close();
    await bench[Symbol.asyncDispose]();
  });
  await service.call('POST', '/api/repos');
  await bench.import('work', linearHistory(3));
  const free = await service.remote('team/app');
  const strict = await service.remote('team/app', { claims: { refs: [['*', ['verify-sig']]] } });
  await bench.git('work', 'push', '-q', free, 'main:main');
  const ssh = ['-c', 'gpg.format=ssh'];
  let count = 0;

  const push = async (oid: string) => bench.try('work', 'push', strict, `${oid}:refs/heads/b${++count}`);
  const commit = async (...options: string[]) => {
    await bench.git('work', ...options, 'commit', '-q', '--allow-empty', '-m', `Commit ${count}`);
    return bench.git('work', 'rev-parse', 'HEAD');
  };
  const signed = (id: string) =>
    commit(...ssh, '-c', 'commit.gpgSign=true', '-c', `user.signingkey=${signingKey(bench, id)}`);

  for (const id of ['es256', 'es384', 'es512', 'rs256']) {
    const { status, stderr } = await push(await signed(id));
    t.equal(status, 0, `${id}: ${stderr}`);
  }
  const good = await bench.git('work', 'rev-parse', 'HEAD');
  const refuse = async (what: string, oid: string) => {
    const { status, stderr } = await push(oid);
    t.not(status, 0, what);
    t.match(stderr, /\[remote rejected\] .*denied by policy \(verify-sig\)/, what);
    await bench.git('work', 'reset', '-q', '--hard', good);
  };
  await refuse('no signature', await commit());
  await refuse('a key of another organization', await signed('second'));
  await refuse('a key that was deleted', await signed('deleted'));
  const body = await bench.git('work', 'cat-file', 'commit', good);
  const store = (text: string) => bench.feed(text, 'work', 'hash-object', '-t', 'commit', '-w', '--stdin');
  await refuse('a signature of other content', await store(`${body.replace(/\n\n[\s\S]*$/, '')}\n\nAnother message\n`));
  const pgp = ' -----BEGIN PGP SIGNATURE-----\n \n aGVsbG8=\n -----END PGP SIGNATURE-----';
  await refuse(
    'OpenPGP, which no registered key can make',
    await store(`${body.replace(/ -----BEGIN SSH[\s\S]*?-----END SSH SIGNATURE-----/, pgp)}\n`),
  );
  await bench.git('work', 'commit', '-q', '--allow-empty', '-m', 'Not signed');
  await refuse('a signed commit on top of one that is not', await signed('es256'));
});
