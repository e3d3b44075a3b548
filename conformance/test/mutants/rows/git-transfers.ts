import { FLUSH, writePkt } from '../../../http/pkt-line.js';
import { type Mutant, patched, proxied } from '../mutant.js';
import { COMMIT, FILE, GREP, REFS, REMOTE } from '../places.js';
import type { ProxiedRequest, Rewrite } from '../proxy.js';
import { isAt, type Place } from '../rewrites.js';
import { changesResponsesTo, tokenOf } from '../tokens.js';

const LISTINGS = 'smart-http/ref-listings.js';
const FETCH_0 = 'smart-http/upload-pack-v0.js';
const FETCH_2 = 'smart-http/upload-pack-v2.js';
const PUSH = 'smart-http/receive-pack.js';
const SERVICE = 'smart-http/git-service.js';

/** Maximum size in bytes of a push of one ref with a pack that contains no objects. Larger pushes contain objects. */
const MAX_EMPTY_PUSH = 240;

const LISTED_REF = `yield concatBytes(oid, SPACE, name);
            const peeled = yield* this.#peeled(repository, oid);`;
const UPDATES = `for (const change of stored)
            transaction.update(change);`;
const HAVES = 'haves: negotiation.common,';
const HAVES_AND_WANTS =
  'haves: negotiation.common.size > 0 ? new Set([...negotiation.common, ...request.wants]) : negotiation.common,';

/** Makes the server answer 400 to each fetch request for which `isMeant` returns true. */
function refusesFetches(isMeant: (request: ProxiedRequest) => boolean) {
  return changesResponsesTo(
    (request) => isAt(REMOTE, request) && request.path.endsWith('/git-upload-pack') && isMeant(request),
    (response) => {
      response.status = 400;
      response.body = Buffer.from('');
    },
  );
}

/**
 * Makes the server apply other ref updates than a push requests. `list` is a JavaScript expression for these updates.
 */
function updates(list: string) {
  return {
    file: PUSH,
    find: UPDATES,
    replace: `for (const change of ${list})
            transaction.update(change);`,
  };
}

/** Makes the server answer each later request with an equal key as it answered the first that succeeded. */
function cachesFound(place: Place, keyOf: (request: Readonly<ProxiedRequest>) => string): Rewrite {
  const answers = new Map<string, Buffer>();
  return {
    response: (response) => {
      const { request, status } = response;
      if (!isAt(place, request) || (status !== 200 && status !== 404)) return;
      const key = `${tokenOf(request)?.claims.repo} ${keyOf(request)}`;
      const answer = answers.get(key);
      if (status === 200 && answer === undefined) answers.set(key, response.body);
      if (answer === undefined) return;
      response.status = 200;
      response.body = answer;
    },
  };
}

export const rows: readonly Mutant[] = [
  patched('git-lists-head-at-another-branch', 'git.remote.form#head', 'lists HEAD at the first branch', {
    file: LISTINGS,
    find: `yield latin1 \`\${head} HEAD\`;`,
    replace: `yield latin1 \`\${[...visibleRefs(refs, prefix)][0][1]} HEAD\`;`,
  }),
  patched('git-clones-one-commit', 'git.clone.complete#history', 'leaves the ancestors of the tip out of a clone', {
    file: FETCH_0,
    find: HAVES,
    replace:
      'haves: new Set([...negotiation.common, ...[...request.wants].flatMap((oid) => view.repository.history.commit(oid).parents)]),',
  }),
  patched('git-clones-no-files', 'git.clone.complete#bytes', 'leaves the content of files out of a clone', {
    file: FETCH_0,
    find: 'const { flags } = request;',
    replace: "const { flags } = request; readFilter(bytesOf('blob:none'), request);",
  }),
  patched('git-serves-one-repository', 'git.remote.repository', 'serves the repository that was requested first', {
    file: 'api/operations/git-over-http.js',
    find: 'return { repository: repository.git,',
    replace: 'return { repository: (arguments[0].world.served ??= repository.git),',
  }),
  patched('git-lists-each-branch-at-head', 'git.fetch.branch', 'lists each branch at the tip of the default branch', {
    file: LISTINGS,
    find: LISTED_REF,
    replace: LISTED_REF.replace('oid, SPACE', "name.startsWith('refs/heads/') && head ? head : oid, SPACE"),
  }),
  patched('git-hides-lightweight-tags', 'git.tags#lightweight', 'lists annotated tags only', {
    file: LISTINGS,
    find: LISTED_REF,
    replace: `const peeled = yield* this.#peeled(repository, oid);
            if (!peeled && name.startsWith('refs/tags/')) continue;
            yield concatBytes(oid, SPACE, name);`,
  }),
  patched('git-lists-the-commit-of-a-tag', 'git.tags#annotated', 'lists an annotated tag with its commit', {
    file: LISTINGS,
    find: LISTED_REF,
    replace: `const peeled = yield* this.#peeled(repository, oid);
            yield concatBytes(peeled ?? oid, SPACE, name);`,
  }),
  patched('git-peels-no-tags', 'git.tags.peeled', 'does not list the commits of annotated tags', {
    file: LISTINGS,
    find: `yield latin1 \`\${peeled} \${name}^{}\`;`,
    replace: ';',
  }),
  proxied(
    'git-refuses-version-0',
    'git.fetch.versions#version-0',
    'refuses a fetch in protocol version 0',
    refusesFetches(({ headers }) => headers['git-protocol'] === undefined),
  ),
  proxied(
    'git-refuses-version-1',
    'git.fetch.versions#version-1',
    'refuses a fetch in protocol version 1',
    refusesFetches(({ headers }) => headers['git-protocol'] === 'version=1'),
  ),
  proxied(
    'git-offers-version-2-only',
    'git.fetch.versions#version-2',
    'offers protocol version 2, and refuses a fetch in it',
    refusesFetches(({ body }) => body.includes('command=fetch')),
  ),
  patched(
    'git-sends-nothing-to-a-client-with-commits',
    'git.fetch.versions#incremental-0',
    'sends an empty pack in protocol version 0 to a client that has a commit',
    { file: FETCH_0, find: HAVES, replace: HAVES_AND_WANTS },
  ),
  patched(
    'git-sends-nothing-in-version-2-to-a-client-with-commits',
    'git.fetch.versions#incremental-2',
    'sends an empty pack in protocol version 2 to a client that has a commit',
    { file: FETCH_2, find: HAVES, replace: HAVES_AND_WANTS },
  ),
  patched('git-reads-no-gzip', 'git.fetch.gzip', 'refuses compressed request bodies', {
    file: SERVICE,
    find: "case 'gzip':",
    replace: "case 'gzip': throw problem('unsupported_media_type', 'Send the body without compression.');",
  }),
  proxied('git-reads-no-gzip-in-version-2', 'git.fetch.gzip#version-2', 'does not decompress bodies in version 2', {
    request: (request) => {
      if (isAt(REMOTE, request) && request.headers['git-protocol'] === 'version=2') {
        delete request.headers['content-encoding'];
      }
    },
  }),
  patched('git-needs-a-content-length', 'git.push.chunked', 'refuses request bodies that are sent in chunks', {
    file: SERVICE,
    find: "const actual = request.header('content-type') ?? '';",
    replace: `const actual = request.header('content-type') ?? '';
      if (request.header('content-length') === undefined) throw problem('bad_request', 'Send Content-Length.');`,
  }),
  patched(
    'git-fetches-new-commits-without-files',
    'git.fetch#content',
    'leaves new files out of a fetch after a clone',
    {
      file: FETCH_0,
      find: HAVES,
      replace: "haves: (negotiation.common.size > 0 && readFilter(bytesOf('blob:none'), request), negotiation.common),",
    },
  ),
  patched('git-pushes-all-but-the-first-ref', 'git.push.several#first', 'does not update the first of several refs', {
    ...updates('stored.slice(stored.length > 1 ? 1 : 0)'),
  }),
  patched('git-pushes-all-but-the-last-ref', 'git.push.several#last', 'does not update the last of several refs', {
    ...updates('stored.slice(0, Math.max(1, stored.length - 1))'),
  }),
  patched('git-pushes-no-tag-beside-branches', 'git.push.several#tag', 'does not create a tag pushed with branches', {
    ...updates("stored.filter(({ name }) => stored.length === 1 || !name.startsWith('refs/tags/'))"),
  }),
  patched('git-loses-commits-of-others', 'git.push.stale', 'updates a ref that has moved meanwhile', {
    ...updates(
      'stored.map((one) => (one.old === ZERO_OID ? one : { ...one, old: view.repository.refs.get(one.name) ?? one.old }))',
    ),
  }),
  patched('git-creates-refs-that-exist', 'git.push.stale#created', 'replaces a ref that a push is to create', {
    ...updates(
      'stored.map((one) => (one.old !== ZERO_OID ? one : { ...one, old: view.repository.refs.get(one.name) ?? one.old }))',
    ),
  }),
  patched(
    'git-reports-refs-that-it-did-not-create',
    'git.push.stale#report',
    'reports a ref as updated, but drops the whole push because of another ref',
    updates(
      'stored.some((one) => (view.repository.refs.get(one.name) ?? ZERO_OID) !== one.old) ? stored.slice(0, 1) : stored',
    ),
  ),
  proxied(
    'git-reports-commits-without-parents-as-pushed',
    'git.push.incomplete#parent',
    'reports a commit without its parent as pushed',
    changesResponsesTo(
      ({ path, body }) => path.endsWith('/git-receive-pack') && body.length > MAX_EMPTY_PUSH,
      (response) => {
        const [, ref = ''] = /ng (\S+) /.exec(response.body.toString()) ?? [];
        if (ref !== '') response.body = Buffer.concat([writePkt('unpack ok\n'), writePkt(`ok ${ref}\n`), FLUSH]);
      },
    ),
  ),
  patched('git-deletes-no-branch', 'git.push.delete#branch', 'reports a branch as deleted that stays', {
    ...updates("stored.filter((one) => one.new !== ZERO_OID || !one.name.startsWith('refs/heads/'))"),
  }),
  patched('git-deletes-no-tag', 'git.push.delete#tag', 'reports a tag as deleted that stays', {
    ...updates("stored.filter((one) => one.new !== ZERO_OID || !one.name.startsWith('refs/tags/'))"),
  }),
  proxied('git-deletes-for-git-only', 'git.push.delete#api', 'shows the API a branch that a push has deleted', {
    response: (response) => {
      if (!isAt(COMMIT, response.request) || response.status !== 404) return;
      response.status = 200;
      response.body = Buffer.from(JSON.stringify({ commit: { sha: '1'.repeat(40) } }));
    },
  }),
  patched('git-deletes-other-branches', 'git.push.delete#others', 'deletes every branch at the commit', {
    ...updates(`stored.flatMap((one) => one.new !== ZERO_OID ? [one] : [one, ...[...view.repository.refs.entries('refs/heads/')]
            .filter(([name, { oid }]) => oid === one.old && name !== one.name && name !== 'refs/heads/main')
            .map(([name, { oid }]) => ({ name, old: oid, new: ZERO_OID }))])`),
  }),
  proxied(
    'git-deletes-no-branch-that-was-read',
    'git.push.delete#api-read-before',
    'still resolves a branch that a push has deleted, if it was read before',
    cachesFound(COMMIT, ({ path }) => path),
  ),
  proxied(
    'git-searches-in-a-cache',
    'git.visibility.git-to-api#search',
    'repeats the response to an equal search after a push',
    cachesFound(GREP, ({ body }) => body.toString()),
  ),
  proxied('git-hides-pushed-files', 'git.visibility.git-to-api#file', 'does not read the files of pushed commits', {
    response: (response) => {
      if (isAt(FILE, response.request) && response.request.path.includes('path=pushed.txt')) response.status = 404;
    },
  }),
  patched(
    'git-does-not-see-branches-of-the-api',
    'git.visibility.api-to-git#new-branch',
    'hides from Git the branches that the API creates',
    [
      {
        file: 'repositories/branch-write.js',
        find: 'await transaction.prepare();',
        replace: '(globalThis.committedByApi ??= new Set()).add(commit); await transaction.prepare();',
      },
      {
        file: 'smart-http/view.js',
        find: '!name.startsWith(NAMESPACES)',
        replace: "!name.startsWith(NAMESPACES) && (name === 'refs/heads/main' || !globalThis.committedByApi?.has(oid))",
      },
    ],
  ),
  proxied('git-asks-for-nothing-before-a-push', 'git.challenge.header#push', 'asks for no password before a push', {
    response: ({ request, headers }) => {
      if (request.path.endsWith('service=git-receive-pack')) delete headers['www-authenticate'];
    },
  }),
  proxied('git-drops-git-inside-names', 'git.push#dot', 'removes the first .git from the path of a remote', {
    request: (request) => {
      if (isAt(REMOTE, request)) request.path = request.path.replace(/\.git(.*\.git\/)/, '$1');
    },
  }),
  proxied('git-misses-empty-repositories', 'git.clone.complete#empty', 'answers 404 for an empty repository', {
    response: (response) => {
      if (isAt(REFS, response.request) && response.body.includes('capabilities^{}')) response.status = 404;
    },
  }),
  patched(
    'git-drops-folders-of-pushed-refs',
    'git.push.several#slash',
    'creates a branch or tag whose name has a slash without the part before the slash',
    updates(`stored.map((one) => ({ ...one, name: one.name.replace(/^(refs\\/\\w+\\/).*\\//, '$1') }))`),
  ),
  patched(
    'git-pushes-no-tag-with-a-slash',
    'git.push.several#slash',
    'does not create a tag whose name has a slash',
    updates(`stored.filter(({ name }) => !/^refs\\/tags\\/.*\\//.test(name))`),
  ),
  patched(
    'git-reads-no-thin-packs',
    'git.push#thin',
    'refuses a pack with a delta against an object outside the pack',
    {
      file: PUSH,
      find: "...(policy === 'strict' && {",
      replace: "thin: false, ...(policy === 'strict' && {",
    },
  ),
  patched('git-lists-no-tags-in-version-2', 'git.remote.form#version-2', 'lists no tags in protocol version 2', {
    file: LISTINGS,
    find: 'lines.add(concatBytes(concatBytes(oid, SPACE, name), yield* peeled(oid)));',
    replace: `if (!name.startsWith('refs/tags/')) lines.add(concatBytes(concatBytes(oid, SPACE, name), yield* peeled(oid)));`,
  }),
];
