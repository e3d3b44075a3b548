const BRANCH = 'main';
const AUTHOR = { name: 'Ada', email: 'ada@example.com' };

/**
 * Sends a request with a token for `repo` to an emulator. Resolves to the response body; rejects if the status is not
 * the expected one.
 */
export type Ask = (repo: string, path: string, request?: FirstRequest) => Promise<Buffer>;

export interface FirstRequest {
  readonly body?: string | Buffer;
  readonly type?: string;
  readonly status?: number;
}

/**
 * Sends the typical first requests of a test suite: create, fill, read, clone and push a repository. The build then
 * stores the code that these requests have loaded and compiled in the V8 code cache. No other requests are sent,
 * because every start reads the whole cache.
 */
export async function askFirst(ask: Ask): Promise<void> {
  const [source, copy] = ['first', 'second'];
  await ask(source, '/api/repos', { body: '{}', status: 201 });
  await ask(copy, '/api/repos', { body: '{}', status: 201 });
  await ask(source, '/api/repos');
  await ask(source, `/api/repos/${source}`);
  const commit = await ask(source, `/api/repos/${source}/commit-pack`, {
    body: commitPack(),
    type: 'application/x-ndjson',
    status: 201,
  });
  const { commit_sha: tip } = (JSON.parse(`${commit}`) as { commit: { commit_sha: string } }).commit;
  await ask(source, `/${source}.git/info/refs?service=git-upload-pack`);
  await ask(source, `/${source}.git/git-upload-pack`, fetchRequest('ls-refs', ['peel']));
  await ask(source, `/${source}.git/git-upload-pack`, fetchRequest('fetch', [`want ${tip}`, 'done']));
  const response = await ask(source, `/${source}.git/git-upload-pack`, {
    body: `${line(`want ${tip}\n`)}0000${line('done\n')}`,
    type: 'application/x-git-upload-pack-request',
  });
  await ask(copy, `/${copy}.git/info/refs?service=git-receive-pack`);
  const command = line(`${'0'.repeat(40)} ${tip} refs/heads/${BRANCH}\0report-status`);
  await ask(copy, `/${copy}.git/git-receive-pack`, {
    body: Buffer.concat([Buffer.from(`${command}0000`), response.subarray(response.indexOf('PACK'))]),
    type: 'application/x-git-receive-pack-request',
  });
}

function commitPack(): string {
  const files = [{ path: 'a.txt', operation: 'upsert', content_id: 'a' }];
  const lines = [
    { metadata: { target_branch: BRANCH, commit_message: 'Begin', author: AUTHOR, files } },
    { blob_chunk: { content_id: 'a', data: Buffer.from('hello\n').toString('base64'), eof: true } },
  ];
  return lines.map((one) => `${JSON.stringify(one)}\n`).join('');
}

/**
 * Creates a request of Git protocol v2, gitprotocol-v2(5): `request = command capability-list delim-pkt command-args
 * flush-pkt`.
 */
function fetchRequest(command: string, args: readonly string[]): FirstRequest {
  const body = `${line(`command=${command}\n`)}0001${args.map((arg) => line(`${arg}\n`)).join('')}0000`;
  return { body, type: 'application/x-git-upload-pack-request' };
}

/**
 * Encodes a text as a pkt-line, gitprotocol-common(5). The text follows its length in four hexadecimal digits, which
 * includes these digits.
 */
function line(text: string): string {
  return (text.length + 4).toString(16).padStart(4, '0') + text;
}
