import { type Mutant, type Patch, patched, proxied } from '../mutant.js';
import { tokenMutants } from '../operation-tokens.js';
import { HIDDEN_FROM_GIT } from '../patches.js';
import { COMMITS, FILE, GREP, PACK } from '../places.js';
import type { ProxiedResponse, Rewrite } from '../proxy.js';
import { answersBody, changesRequest, ignoresMember, isAt, type Place } from '../rewrites.js';
import { assumesMetadata, changesLines, changesPack, isOnTop } from '../streams.js';

const NOBODY = { name: 'git', email: 'git@localhost' };

interface Person {
  name?: string;
  email?: string;
}

/** Returns true if a commit-pack response reports the first commit on a branch for which `isMeant` returns true. */
function isFirstOn({ request, status, body }: ProxiedResponse, isMeant: (branch: string) => boolean): boolean {
  if (!isAt(PACK, request) || status !== 201) return false;
  const { commit, result } = JSON.parse(body.toString());
  return /^0+$/.test(result.old_sha) && isMeant(commit.target_branch);
}

/** Makes the server repeat its first successful response to each path, like a cache that is never invalidated. */
function repeatsFirst(place: Place): Rewrite {
  const first = new Map<string, Buffer>();
  return {
    response: (response) => {
      if (!isAt(place, response.request) || response.status !== 200) return;
      const key = response.request.path;
      response.body = first.get(key) ?? response.body;
      first.set(key, response.body);
    },
  };
}

/** Makes all searches without a ref read the same commit: the one that the first of them read. */
function searchesFirst(): Rewrite {
  let commit: string | undefined;
  return {
    ...changesRequest<{ ref?: string }>(GREP, (body) => {
      if (commit !== undefined) body.ref ??= commit;
    }),
    response: ({ request, status, body }) => {
      if (isAt(GREP, request) && status === 200) commit ??= JSON.parse(body.toString()).repo.commit;
    },
  };
}

const isMetadata = (line: unknown): boolean => JSON.stringify(line).startsWith('{"metadata"');

/**
 * Makes the server write wrong entries into the root folder of each commit. `entries` is a JavaScript expression for
 * the entries that replace `entry`.
 */
function rewritesEntries(entries: string): Patch {
  return {
    file: 'api/operations/commit-pack.js',
    find: 'await editTree(transaction.objects, base.tree, edits, meter)',
    replace: `await (async () => {
      const { readTree } = await import('../../git/object/read-tree.js');
      const { writeTree } = await import('../../git/object/tree.js');
      const { TREE } = await import('../../git/object/object.js');
      const { objects } = transaction;
      const found = await runYielding(readTree(objects, await editTree(objects, base.tree, edits, meter)), meter);
      return objects.write(TREE, writeTree(found.flatMap((entry) => ${entries})));
    })()`,
  };
}

/** Identity that a wrong server records in place of the given one. */
const SERVER = { name: 'Server', email: 'server@example.com' };

export const rows: readonly Mutant[] = [
  proxied('pack-answers-200-to-a-commit-on-top', 'pack.route#on-top', 'answers 200 where the branch was there before', {
    response: (response) => {
      if (isOnTop(response)) response.status = 200;
    },
  }),
  patched(
    'pack-commits-to-the-first-repository-asked-for',
    'pack.repo-from-claim',
    'commits to the repository of the first commit',
    {
      file: 'api/operations/commit-pack.js',
      find: 'const { repository, meter } = ctx;',
      replace: 'const { meter } = ctx; const repository = (ctx.world.packedFirst ??= ctx.repository);',
    },
  ),
  proxied(
    'pack-takes-metadata-on-any-line',
    'pack.metadata.first',
    'takes metadata wherever it stands',
    changesLines((lines) => [...lines.filter(isMetadata), ...lines.filter((line) => !isMetadata(line))]),
  ),
  proxied(
    'pack-takes-an-empty-body',
    'pack.body.empty#empty',
    'commits nothing where the body is empty',
    changesLines((lines) => {
      const metadata = { target_branch: 'main', commit_message: 'Nothing', author: NOBODY, files: [] };
      return lines.length === 0 ? [{ metadata }] : lines;
    }),
  ),
  proxied(
    'pack-passes-over-what-is-no-json',
    'pack.body.empty#invalid-line',
    'passes over lines that are no JSON',
    changesLines((lines) => lines.filter((line) => typeof line !== 'string')),
  ),
  proxied(
    'pack-makes-text-of-numbers',
    'pack.fields.invalid#target-branch',
    'takes a number for the name of a branch',
    changesPack(({ metadata }) => {
      if (typeof metadata.target_branch === 'number') metadata.target_branch = 'main';
    }),
  ),
  proxied(
    'pack-takes-main-for-a-missing-branch',
    'pack.target_branch.required',
    'commits to main where no branch is named',
    assumesMetadata('target_branch', 'main'),
  ),
  proxied(
    'pack-makes-branches-without-a-base',
    'pack.target_branch.must-exist',
    'makes a branch that does not exist out of main',
    changesPack(({ metadata }) => {
      if (metadata.target_branch !== 'main') metadata.base_branch ??= 'main';
    }),
  ),
  proxied(
    'pack-words-a-message-itself',
    'pack.commit_message.required',
    'words a message itself where there is none',
    assumesMetadata('commit_message', 'Update files'),
  ),
  proxied(
    'pack-keeps-the-first-line-of-a-message',
    'pack.commit_message.recorded',
    'keeps the first line of a message',
    changesPack(({ metadata }) => {
      metadata.commit_message = String(metadata.commit_message).replace(/\n.*/s, '');
    }),
  ),
  proxied(
    'pack-needs-no-author',
    'pack.author.required',
    'is the author where there is none',
    assumesMetadata('author', NOBODY),
  ),
  proxied(
    'pack-completes-an-author',
    'pack.author.name.required',
    'makes up what an author lacks',
    changesPack(({ metadata }) => {
      metadata.author = { ...NOBODY, ...(metadata.author as Person) };
    }),
  ),
  proxied(
    'pack-writes-authors-in-ascii',
    'pack.author.recorded',
    'writes the names of authors in ASCII',
    changesPack(({ metadata }) => {
      const { name = '', email } = metadata.author as Person;
      metadata.author = { name: name.normalize('NFD').replaceAll(/[^ -~]/g, ''), email };
    }),
  ),
  proxied(
    'pack-writes-emails-in-lower-case',
    'pack.author.recorded',
    'writes the email addresses of authors in lower case',
    changesPack(({ metadata }) => {
      const { name, email = '' } = metadata.author as Person;
      metadata.author = { name, email: email.toLowerCase() };
    }),
  ),
  proxied(
    'pack-ignores-the-committer',
    'pack.committer.recorded',
    'takes the author for the committer',
    ignoresMember(PACK, 'committer'),
  ),
  proxied(
    'pack-needs-no-files',
    'pack.files.required',
    'commits nothing where there are no files',
    assumesMetadata('files', []),
  ),
  patched('pack-is-not-seen-by-git', 'pack.visible.git', 'hides from Git what the API committed', HIDDEN_FROM_GIT),
  patched('pack-writes-commits-without-parents', 'pack.parent', 'writes commits without a parent', {
    file: 'repositories/branch-write.js',
    find: 'parent === undefined ? [] : [parent];',
    replace: '[];',
  }),
  patched('pack-drops-files-that-are-not-named', 'pack.untouched-files', 'drops files that are not named', {
    file: 'api/operations/commit-pack.js',
    find: 'editTree(transaction.objects, base.tree, edits, meter)',
    replace: "editTree(transaction.objects, '4b825dc642cb6eb9a060e54bf8d69288fbee4904', edits, meter)",
  }),
  ...(['author', 'committer'] as const).flatMap((member) => [
    proxied(
      `pack-ignores-the-${member}-on-a-new-branch`,
      `pack.${member}.recorded#new-branch`,
      `does not look at the ${member} of a commit that creates a branch`,
      changesPack(({ metadata }) => {
        if (metadata.base_branch !== undefined && metadata.ephemeral !== true) metadata[member] = SERVER;
      }),
    ),
    proxied(
      `pack-ignores-the-${member}-on-an-ephemeral-branch`,
      `pack.${member}.recorded#ephemeral`,
      `does not look at the ${member} of a commit to an ephemeral branch`,
      changesPack(({ metadata }) => {
        if (metadata.ephemeral === true) metadata[member] = SERVER;
      }),
    ),
  ]),
  proxied(
    'pack-takes-the-committer-for-the-author',
    'pack.committer.recorded#author-stays',
    'takes the committer for the author',
    changesPack(({ metadata }) => {
      metadata.author = metadata.committer ?? metadata.author;
    }),
  ),
  proxied(
    'pack-makes-up-the-name-of-an-author',
    'pack.author.name.required#name',
    'makes up the name of an author',
    changesPack(({ metadata }) => {
      const { email } = (metadata.author ?? {}) as Person;
      if (email !== undefined) metadata.author = { name: email, ...(metadata.author as Person) };
    }),
  ),
  proxied(
    'pack-makes-up-the-address-of-an-author',
    'pack.author.name.required#email',
    'makes up the email of an author',
    changesPack(({ metadata }) => {
      const { name } = (metadata.author ?? {}) as Person;
      if (name !== undefined) metadata.author = { email: NOBODY.email, ...(metadata.author as Person) };
    }),
  ),
  proxied(
    'pack-takes-a-number-for-a-message',
    'pack.fields.invalid#commit-message',
    'takes a number for a message',
    changesPack(({ metadata }) => {
      if (typeof metadata.commit_message === 'number') metadata.commit_message = String(metadata.commit_message);
    }),
  ),
  proxied(
    'pack-passes-over-a-committer-that-is-no-object',
    'pack.fields.invalid#committer',
    'does not look at a committer that is not an object',
    changesPack(({ metadata }) => {
      if (typeof metadata.committer !== 'object') metadata.committer = undefined;
    }),
  ),
  proxied(
    'pack-passes-over-files-that-are-no-objects',
    'pack.fields.invalid#files',
    'does not look at items of files that are not objects',
    changesPack((body) => {
      body.files = body.files.filter((file) => typeof file === 'object');
    }),
  ),
  proxied(
    'pack-takes-a-number-for-a-path',
    'pack.fields.invalid#path',
    'takes a number for a path',
    changesPack(({ files }) => {
      for (const file of files) {
        if (typeof file.path === 'number') file.path = String(file.path);
      }
    }),
  ),
  patched(
    'pack-misses-pushed-commits',
    'pack.parent#after-push',
    'adds a commit to the last commit of the API, and loses pushed commits',
    [
      {
        file: 'repositories/branch-write.js',
        find: 'const tip = refs.get(branchRef(write.branch, write.ephemeral));',
        replace: `const current = refs.get(branchRef(write.branch, write.ephemeral));
        const made = repository.git.madeByApi?.get(branchRef(write.branch, write.ephemeral));
        const tip = current === undefined ? undefined : (made ?? current);`,
      },
      {
        file: 'repositories/branch-write.js',
        find: 'return { ref: branchRef(write.branch, write.ephemeral), old, parent, tree };',
        replace: `const ref = branchRef(write.branch, write.ephemeral);
        repository.git.madeByApi ??= new Map();
        return { ref, old: repository.git.refs.get(ref) ?? old, parent, tree, made: repository.git.madeByApi };`,
      },
      {
        file: 'repositories/branch-write.js',
        find: 'commitTo(transaction, { ref, old, parents, tree, author, committer, message })',
        replace: `commitTo(transaction, { ref, old, parents, tree, author, committer, message }).then((written) => {
          arguments[1].made.set(ref, written.commit);
          return written;
        })`,
      },
    ],
  ),
  patched(
    'pack-takes-executable-bits-away',
    'pack.untouched-files#modes',
    'makes regular files of executable ones',
    rewritesEntries('entry.mode === 0o100755 ? [{ ...entry, mode: 0o100644 }] : [entry]'),
  ),
  patched(
    'pack-makes-files-of-links',
    'pack.untouched-files#links',
    'makes regular files of symbolic links',
    rewritesEntries('entry.mode === 0o120000 ? [{ ...entry, mode: 0o100644 }] : [entry]'),
  ),
  patched(
    'pack-drops-submodules',
    'pack.untouched-files#submodules',
    'drops submodules',
    rewritesEntries('entry.mode === 0o160000 ? [] : [entry]'),
  ),
  proxied('pack-answers-200-to-a-new-branch', 'pack.route#new-branch', 'answers 200 if it creates a branch', {
    response: (response) => {
      if (isFirstOn(response, (branch) => branch !== 'main')) response.status = 200;
    },
  }),
  proxied('pack-answers-200-to-a-first-commit', 'pack.route#first-commit', 'answers 200 to the first commit on main', {
    response: (response) => {
      if (isFirstOn(response, (branch) => branch === 'main')) response.status = 200;
    },
  }),
  proxied(
    'pack-answers-202-to-an-ephemeral-commit',
    'pack.route#ephemeral',
    'answers 202 to a commit on an ephemeral branch',
    answersBody(PACK, (body) => body.includes('"ephemeral":true'), 202),
  ),
  proxied(
    'pack-answers-200-to-a-deletion',
    'pack.route#deletion',
    'answers 200 if it only deletes files',
    answersBody(PACK, (body) => body.includes('"operation":"delete"') && !body.includes('"blob_chunk"'), 200),
  ),
  proxied(
    'pack-breaks-over-null',
    'pack.body.empty#not-an-object',
    'answers a first line that is null with 500',
    answersBody(PACK, (body) => body.startsWith('null'), 500),
  ),
  proxied(
    'pack-takes-a-number-for-a-name',
    'pack.fields.invalid#name',
    'takes a number for the name of an author',
    changesPack(({ metadata }) => {
      const person = (metadata.author ?? {}) as { name?: unknown };
      if (typeof person.name === 'number') person.name = String(person.name);
    }),
  ),
  proxied(
    'pack-takes-null-for-a-message',
    'pack.fields.invalid#null',
    'takes null for the message "null"',
    changesPack(({ metadata }) => {
      if (metadata.commit_message === null) metadata.commit_message = 'null';
    }),
  ),
  proxied(
    'pack-is-read-with-a-delay',
    'pack.visible.git#file',
    'answers the second read of a file with the bytes of the first',
    repeatsFirst(FILE),
  ),
  proxied(
    'pack-is-listed-with-a-delay',
    'pack.visible.git#list',
    'answers the second request for the commits with the first list',
    repeatsFirst(COMMITS),
  ),
  proxied(
    'pack-is-found-with-a-delay',
    'pack.visible.git#search',
    'searches only the commit of the first search',
    searchesFirst(),
  ),
  ...tokenMutants('pack', PACK, 'git:write', {
    noHeader: 'pack.err.401.no-header',
    invalid: 'pack.err.401.invalid-jwt',
    scope: 'pack.err.scope',
    missingRepo: 'pack.err.404.repo',
  }),
];
