import { Readable } from 'node:stream';
import git from 'isomorphic-git';
import http from 'isomorphic-git/http/node';
import { createFsFromVolume, Volume } from 'memfs';
import t from 'tap';
import { linearHistory } from '../git/test/history.js';
import { createRepository } from '../git/test/memory-repository.js';
import { Workbench } from '../git/test/workbench.js';
import { TestServer } from './test/test-server.js';

t.test('isomorphic-git clones, fetches and pushes', async (t) => {
  await using bench = await Workbench.create();
  const repository = createRepository();
  await using server = await TestServer.start(repository);
  await bench.import('work', linearHistory(25));
  await bench.git('work', 'push', '-q', server.url(), 'main', '--tags');
  const { fs } = memory();
  const at = { fs, http, dir: '/clone' };
  await git.clone({ ...at, url: server.url() });
  t.equal(await git.resolveRef({ ...at, ref: 'HEAD' }), await bench.git('work', 'rev-parse', 'main'));
  t.equal((await git.log(at)).length, 25);
  t.same(await git.listTags(at), ['v10', 'v20']);

  const author = { name: 'A', email: 'a@example.com', timestamp: 1_700_100_000, timezoneOffset: 0 };
  await fs.promises.writeFile('/clone/new.txt', 'from another client\n');
  await git.add({ ...at, filepath: 'new.txt' });
  const made = await git.commit({ ...at, message: 'new', author });
  t.match(await git.push({ ...at, remote: 'origin', ref: 'main' }), {
    ok: true,
    refs: { 'refs/heads/main': { ok: true } },
  });
  t.equal(repository.refs.get(bytesOf('refs/heads/main')), made);
  await git.branch({ ...at, ref: 'topic' });
  await git.push({ ...at, remote: 'origin', ref: 'topic' });
  await git.push({ ...at, remote: 'origin', ref: 'topic', delete: true });
  t.equal(repository.refs.get(bytesOf('refs/heads/topic')), undefined);

  await bench.git('work', 'pull', '-q', server.url(), 'main');
  await bench.git('work', 'fsck', '--strict');
  await bench.git('work', 'commit', '-q', '--allow-empty', '-m', 'back');
  await bench.git('work', 'push', '-q', server.url(), 'main');
  await git.fetch({ ...at, remote: 'origin', ref: 'main' });
  t.equal(await git.resolveRef({ ...at, ref: 'origin/main' }), await bench.git('work', 'rev-parse', 'main'));

  const shallow = { ...at, dir: '/shallow' };
  await git.clone({ ...shallow, url: server.url(), depth: 2, singleBranch: true });
  t.equal((await git.log(shallow)).length, 2);
});

function memory() {
  return { fs: createFsFromVolume(new Volume()) };
}

const JGIT = `
import java.io.File;
import org.eclipse.jgit.api.Git;

class Client {
  public static void main(String[] args) throws Exception {
    if (args[0].equals("clone")) Git.cloneRepository().setURI(args[1]).setDirectory(new File(args[2])).call().close();
    if (!args[0].equals("push")) return;
    try (Git git = Git.open(new File(args[2]))) {
      git.commit().setMessage("jgit").setAuthor("A", "a@example.com").setCommitter("A", "a@example.com").call();
      git.push().setRemote("origin").add("main").call();
      git.fetch().call();
    }
  }
}`;

/** Returns a command that runs JGit from a Java source file. It needs a JDK and the Debian package libjgit-java. */
function jgit(action: string): string[] {
  const script = `printf %s "$1" > Client.java && java -cp '/usr/share/java/*' Client.java ${action} "$2" "$3"`;
  return ['sh', '-c', script, 'sh', JGIT, 'URL', 'FOLDER'];
}

/** Git clients other than `git`. `probe` is a command that succeeds if the client is installed. */
const OTHERS: Record<string, { probe: string[]; clone: string[]; push: string[] }> = {
  libgit2: {
    probe: ['/usr/bin/python3', '-c', 'import pygit2'],
    clone: [
      '/usr/bin/python3',
      '-c',
      'import pygit2, sys; pygit2.clone_repository(sys.argv[1], sys.argv[2])',
      'URL',
      'FOLDER',
    ],
    push: [
      '/usr/bin/python3',
      '-c',
      `import pygit2, sys
r = pygit2.Repository(sys.argv[2])
who = pygit2.Signature('A', 'a@example.com', 1700100000, 0)
r.create_commit('refs/heads/main', who, who, 'libgit2', r[r.head.target].tree.id, [r.head.target])
r.remotes['origin'].push(['refs/heads/main'])
r.remotes['origin'].fetch()`,
      'URL',
      'FOLDER',
    ],
  },
  dulwich: {
    probe: ['/usr/bin/python3', '-c', 'import dulwich'],
    clone: [
      '/usr/bin/python3',
      '-c',
      'from dulwich import porcelain; import sys; porcelain.clone(sys.argv[1], sys.argv[2])',
      'URL',
      'FOLDER',
    ],
    push: [
      '/usr/bin/python3',
      '-c',
      `from dulwich import porcelain
import sys
porcelain.commit(sys.argv[2], message=b'dulwich', author=b'A <a@example.com>', committer=b'A <a@example.com>')
porcelain.push(sys.argv[2], sys.argv[1], b'refs/heads/main')
porcelain.fetch(sys.argv[2], sys.argv[1])`,
      'URL',
      'FOLDER',
    ],
  },
  jgit: { probe: jgit('probe'), clone: jgit('clone'), push: jgit('push') },
};

import { bytesOf } from '../git/object/bytes.js';
import { sample } from '../test/sample.js';

for (const [name, client] of sample(t, Object.entries(OTHERS), 2)) {
  t.test(`${name} clones, pushes and fetches`, async (t) => {
    await using bench = await Workbench.create();
    const run = (command: string[], url = '', folder = '') => {
      const [program, ...args] = command.map((word) => (word === 'URL' ? url : word === 'FOLDER' ? folder : word));
      return bench
        .run('.', program!, args)
        .catch((error: Error) => ({ status: -1, stdout: '', stderr: error.message }));
    };
    const probe = await run(client.probe);
    if (probe.status !== 0)
      return t.pass('not on this machine', { skip: probe.stderr.split('\n').at(-2) ?? probe.stderr });
    const repository = createRepository();
    await using server = await TestServer.start(repository);
    await bench.import('work', linearHistory(25));
    await bench.git('work', 'push', '-q', server.url(), 'main', '--tags');
    const before = repository.refs.get(bytesOf('refs/heads/main'))!;
    const cloned = await run(client.clone, server.url(), 'clone');
    t.equal(cloned.status, 0, cloned.stderr);
    t.equal(await bench.git('clone', 'rev-parse', 'HEAD'), before);
    await bench.git('clone', 'fsck', '--strict', '--no-dangling');
    const pushed = await run(client.push, server.url(), 'clone');
    t.equal(pushed.status, 0, pushed.stderr);
    t.equal(repository.refs.get(bytesOf('refs/heads/main')), await bench.git('clone', 'rev-parse', 'refs/heads/main'));
    t.equal(await bench.git('clone', 'rev-parse', 'refs/heads/main~1'), before);
  });
}

t.test('a slow reader gets the same pack, and one that leaves costs nothing', async (t) => {
  await using bench = await Workbench.create();
  const repository = createRepository();
  await using server = await TestServer.start(repository);
  await bench.import('work', linearHistory(60, { files: 200 }));
  await bench.git('work', 'push', '-q', server.url(), 'main');
  const main = repository.refs.get(bytesOf('refs/heads/main'))!;
  const line = `0032want ${main}\n`;
  const body = `0011command=fetch0001${line}0009done\n0000`;
  const ask = (signal?: AbortSignal) =>
    fetch(`${server.url()}/git-upload-pack`, {
      method: 'POST',
      body,
      headers: { 'content-type': 'application/x-git-upload-pack-request', 'git-protocol': 'version=2' },
      ...(signal && { signal }),
    });
  for (let round = 0; round < 10; round++) {
    const gone = new AbortController();
    const response = await ask(gone.signal);
    const reader = response.body!.getReader();
    await reader.read();
    gone.abort();
    await reader.cancel().catch(() => undefined);
  }
  const whole = Buffer.from(await (await ask()).arrayBuffer());
  const slow: Buffer[] = [];
  for await (const piece of Readable.fromWeb((await ask()).body as never, { highWaterMark: 1024 })) {
    slow.push(Buffer.from(piece as Uint8Array));
    if (slow.length % 8 === 0) await new Promise((resolve) => setTimeout(resolve, 1));
  }
  t.ok(Buffer.concat(slow).equals(whole));
  t.equal(whole.toString('latin1', whole.length - 4), '0000');
});
