import git from 'isomorphic-git';
import http from 'isomorphic-git/http/node';
import { createFsFromVolume, Volume } from 'memfs';
import t from 'tap';
import { linearHistory } from '../../git/test/history.js';
import { Workbench } from '../../git/test/workbench.js';
import { sample } from '../sample.js';
import { startService } from '../service.js';

t.test('isomorphic-git on a file system in memory: clone, commit, push, and the refusals', async (t) => {
  const service = await startService();
  t.teardown(() => service.emulator.close());
  await service.seed('team/app', { 'a.txt': 'a\n', 'folder/b.txt': 'b\n' });
  const fs = createFsFromVolume(new Volume());
  const url = `${service.emulator.gitUrl}/team/app.git`;
  const token = await service.token({ repo: 'team/app' });
  const onAuth = () => ({ username: 't', password: token });
  const at = { fs, http, dir: '/clone', onAuth };
  await git.clone({ ...at, url });
  t.equal(await fs.promises.readFile('/clone/folder/b.txt', 'utf8'), 'b\n');

  const author = { name: 'Ada', email: 'ada@example.com' };
  await fs.promises.writeFile('/clone/größe.txt', 'from memory\n');
  await git.add({ ...at, filepath: 'größe.txt' });
  const made = await git.commit({ ...at, message: 'From memory', author });
  t.match(await git.push({ ...at, remote: 'origin', ref: 'main' }), { ok: true });
  const file = await service.call('GET', `/api/v1/repos/file?path=${encodeURIComponent('größe.txt')}`);
  t.match(file, { status: 200, text: 'from memory\n', headers: { 'x-last-commit-sha': made } });

  const written = await service.commit('team/app', { 'folder/b.txt': null, 'c.txt': 'c\n' });
  await git.pull({ ...at, remote: 'origin', ref: 'main', author });
  t.equal(await git.resolveRef({ ...at, ref: 'HEAD' }), written.json.commit.commit_sha);
  t.same((await git.listFiles(at)).sort(), ['a.txt', 'c.txt', 'größe.txt']);

  const refused = async (password: string) =>
    git
      .clone({
        fs: createFsFromVolume(new Volume()),
        http,
        dir: '/x',
        url,
        onAuth: () => ({ username: 't', password }),
        onAuthFailure: () => ({ cancel: true }),
      })
      .then(
        () => 'cloned',
        (error) => error.data?.statusCode ?? error.code,
      );
  t.equal(await refused('garbage'), 403);
  t.equal(await refused(await service.token({ repo: 'team/app', scopes: ['git:write'] })), 403);
  t.equal(await refused(await service.token({ repo: 'other' })), 404);
  await t.rejects(git.clone({ fs: createFsFromVolume(new Volume()), http, dir: '/x', url }), { code: 'HttpError' });
});

const JGIT = `
import java.io.File;
import org.eclipse.jgit.api.Git;
import org.eclipse.jgit.transport.UsernamePasswordCredentialsProvider;

class Client {
  public static void main(String[] args) throws Exception {
    if (args[0].equals("probe")) return;
    var token = new UsernamePasswordCredentialsProvider("t", args[1]);
    try (Git git = Git.cloneRepository().setURI(args[2]).setDirectory(new File(args[3])).setCredentialsProvider(token).call()) {
      git.commit().setMessage("jgit").setAuthor("A", "a@example.com").setCommitter("A", "a@example.com").call();
      git.push().setRemote("origin").add("main").setCredentialsProvider(token).call();
    }
  }
}`;

/**
 * Git clients other than git itself. Each clones with the token as password, creates a commit and pushes it. The
 * arguments are the token, the URL without and with the token, and the folder.
 */
const CLIENTS: Record<string, { probe: string[]; run: string[] }> = {
  libgit2: {
    probe: ['/usr/bin/python3', '-c', 'import pygit2'],
    run: [
      '/usr/bin/python3',
      '-c',
      `import pygit2, sys
token, url, _, folder = sys.argv[1:]
calls = pygit2.RemoteCallbacks(credentials=pygit2.UserPass('t', token))
r = pygit2.clone_repository(url, folder, callbacks=calls)
who = pygit2.Signature('A', 'a@example.com', 1700100000, 0)
r.create_commit('refs/heads/main', who, who, 'libgit2', r[r.head.target].tree.id, [r.head.target])
r.remotes['origin'].push(['refs/heads/main'], callbacks=calls)`,
    ],
  },
  dulwich: {
    probe: ['/usr/bin/python3', '-c', 'import dulwich'],
    run: [
      '/usr/bin/python3',
      '-c',
      `from dulwich import porcelain
import sys
token, url, _, folder = sys.argv[1:]
porcelain.clone(url, folder, username='t', password=token)
porcelain.commit(folder, message=b'dulwich', author=b'A <a@example.com>', committer=b'A <a@example.com>')
porcelain.push(folder, url, b'refs/heads/main', username='t', password=token)`,
    ],
  },
  jgit: {
    probe: ['sh', '-c', `printf %s "$1" > Client.java && java -cp '/usr/share/java/*' Client.java probe`, 'sh', JGIT],
    run: ['sh', '-c', `java -cp '/usr/share/java/*' Client.java run "$1" "$2" "$4"`, 'sh'],
  },
};

for (const [name, client] of sample(t, Object.entries(CLIENTS), 2)) {
  t.test(`${name} clones and pushes with a token`, async (t) => {
    await using bench = await Workbench.create();
    const run = ([program, ...args]: string[]) =>
      bench.run('.', program!, args).catch((error: Error) => ({ status: -1, stdout: '', stderr: error.message }));
    const probe = await run(client.probe);
    if (probe.status !== 0) {
      return t.pass('not on this machine', { skip: probe.stderr.trim().split('\n').at(-1) ?? probe.stderr });
    }
    const service = await startService();
    t.teardown(() => service.emulator.close());
    await service.call('POST', '/api/repos');
    await bench.import('work', linearHistory(12));
    const remote = await service.remote('team/app');
    await bench.git('work', 'push', '-q', remote, 'main');
    const before = await bench.git('work', 'rev-parse', 'main');
    const token = await service.token({ repo: 'team/app' });
    const done = await run([...client.run, token, `${service.emulator.gitUrl}/team/app.git`, remote, 'clone']);
    t.equal(done.status, 0, done.stderr);
    await bench.git('clone', 'fsck', '--strict', '--no-dangling');
    const { commit } = (await service.call('GET', '/api/v1/repos/commit?sha=main')).json;
    t.same([commit.sha, commit.parent_shas], [await bench.git('clone', 'rev-parse', 'main'), [before]]);
  });
}
