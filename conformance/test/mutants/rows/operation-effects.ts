import { type Mutant, patched, proxied } from '../mutant.js';
import { FILE, REPO } from '../places.js';
import { assumesParameter, changesJson, changesQuery, changesRequest, setsMember } from '../rewrites.js';

const BRANCHES_FILE = 'api/operations/branches.js';
const TAGS_FILE = 'api/operations/tags.js';
const REPOSITORIES_FILE = 'api/operations/repositories.js';
const CREDENTIALS_FILE = 'api/operations/git-credentials.js';
const DELETES_REF = 'transaction.update({ name: ref, old, new: ZERO_OID });';
const CREATES_BRANCH = 'transaction.update(update);';
const CREATES_TAG = 'transaction.update({ name: ref, old: ZERO_OID, new: commit })';
const DELETES_REPOSITORY = 'world.state.repositories.delete(repository);\n        return json(200, {';
const DELETES_NOTE = "changeNote(ctx, 'remove', '', 200)";

/** Returns code of a patch that runs `code` only for refs whose name begins with `prefix`. */
const onlyFor = (prefix: string, code: string): string => `if (textOf(ref).startsWith('${prefix}')) { ${code} }`;

/** Code of a patch that deletes a ref. It also deletes all refs whose names begin with that ref's name. */
const DELETES_SIBLINGS = `${DELETES_REF}
  for (const [name, { oid }] of [...ctx.repository.git.refs.entries(ref)])
    if (name !== ref) transaction.update({ name, old: oid, new: ZERO_OID });`;

/** Makes the server leave out the last item of a list. Only the last page changes. */
function losesLast(name: string) {
  return changesJson<Record<string, unknown>>(
    new RegExp(`^GET .*/${name}$`),
    (body) => {
      const items = body[name];
      if (Array.isArray(items) && body.has_more === false) items.pop();
    },
    200,
  );
}

export const rows: readonly Mutant[] = [
  patched(
    'operation-changes-credentials-of-other-repositories',
    'other.effect.credentials#other-repository',
    'finds the Git credentials of all repositories by their ids',
    {
      file: 'api/operations/git-credentials.js',
      find: 'claims.repo !== WHOLE_ORGANIZATION && claims.repo !== owner.name',
      replace: 'false',
    },
  ),
  proxied(
    'effect-creates-branches-at-the-default-branch',
    'other.effect.branches#create-at-base',
    'creates each branch at the default branch',
    changesRequest<{ base_branch?: string }>(/branches\/create$/, (body) => ({ ...body, base_branch: 'main' })),
  ),
  patched(
    'effect-creates-a-second-branch',
    'other.effect.branches#create-only',
    'creates a second branch beside the one of the request',
    {
      file: BRANCHES_FILE,
      find: CREATES_BRANCH,
      replace: `${CREATES_BRANCH}
        const second = branchRef(bytesOf('second'), false);
        if (git.refs.get(second) === undefined) transaction.update({ name: second, old: ZERO_OID, new: commit });`,
    },
  ),
  patched(
    'effect-keeps-deleted-branches',
    'other.effect.branches#delete',
    'answers 200 to the deletion of a branch, and keeps the branch',
    { file: BRANCHES_FILE, find: DELETES_REF, replace: onlyFor('refs/tags/', DELETES_REF) },
  ),
  patched(
    'effect-deletes-branches-by-prefix',
    'other.effect.branches#delete-only',
    'deletes all branches whose names begin with the name in the request',
    { file: BRANCHES_FILE, find: DELETES_REF, replace: DELETES_SIBLINGS },
  ),
  proxied(
    'effect-reads-the-default-branch-only',
    'other.effect.branches#read',
    'shows the default branch, whatever branch the request names',
    changesQuery(/^GET .*\/branch$/, (query) => query.set('name', 'main')),
  ),
  proxied(
    'effect-lists-all-branches-but-one',
    'other.effect.branches#list',
    'leaves the last branch out of the list',
    losesLast('branches'),
  ),
  patched(
    'effect-creates-tags-at-head',
    'other.effect.tags#create-at-target',
    'creates each tag at the default branch',
    { file: TAGS_FILE, find: '{ ref: target }', replace: "{ ref: 'HEAD' }" },
  ),
  patched(
    'effect-creates-a-second-tag',
    'other.effect.tags#create-only',
    'creates a second tag beside the one of the request',
    {
      file: TAGS_FILE,
      find: CREATES_TAG,
      replace: `{
      ${CREATES_TAG};
      transaction.update({ name: concatBytes(ref, bytesOf('-2')), old: ZERO_OID, new: commit });
    }`,
    },
  ),
  patched(
    'effect-keeps-deleted-tags',
    'other.effect.tags#delete',
    'answers 200 to the deletion of a tag, and keeps the tag',
    { file: BRANCHES_FILE, find: DELETES_REF, replace: onlyFor('refs/heads/', DELETES_REF) },
  ),
  patched(
    'effect-deletes-tags-by-prefix',
    'other.effect.tags#delete-only',
    'deletes all tags whose names begin with the name in the request',
    { file: BRANCHES_FILE, find: DELETES_REF, replace: DELETES_SIBLINGS },
  ),
  proxied(
    'effect-reads-one-tag-only',
    'other.effect.tags#read',
    'shows another tag than the request names',
    changesQuery(/^GET .*\/tag$/, (query) => query.set('name', `${query.get('name')}`.replace(/-longer$/, ''))),
  ),
  proxied(
    'effect-lists-all-tags-but-one',
    'other.effect.tags#list',
    'leaves the last tag out of the list',
    losesLast('tags'),
  ),
  proxied(
    'effect-keeps-the-default-branch-in-the-record',
    'other.effect.update-repository#record',
    'shows main as the default branch, whatever it was changed to',
    setsMember(REPO, 'default_branch', 'main', 200),
  ),
  proxied(
    'effect-keeps-reading-the-first-default-branch',
    'other.effect.update-repository#reads',
    'reads main where the request has no ref, whatever the default branch was changed to',
    assumesParameter(FILE, 'ref', 'main'),
  ),
  patched(
    'effect-deletes-the-former-default-branch',
    'other.effect.update-repository#only',
    'deletes main when another branch becomes the default branch',
    {
      file: REPOSITORIES_FILE,
      find: 'transaction.updateHead({ symref: head });',
      replace: `{
        const main = branchRef(new TextEncoder().encode('main').reduce((text, byte) => text + String.fromCharCode(byte), ''), false);
        const old = transaction.refs.get(main);
        transaction.updateHead({ symref: head });
        if (old !== undefined && main !== head) transaction.update({ name: main, old, new: '0'.repeat(40) });
      }`,
    },
  ),
  patched(
    'effect-keeps-deleted-repositories',
    'other.effect.delete-repository#delete',
    'answers 200 to the deletion of a repository, and keeps the repository',
    { file: REPOSITORIES_FILE, find: DELETES_REPOSITORY, replace: 'return json(200, {' },
  ),
  patched(
    'effect-lists-tags-of-deleted-repositories',
    'other.effect.delete-repository#every',
    'lists the tags of a deleted repository',
    {
      file: 'repositories/lifecycle.js',
      find: "if (state === 'deleted') {",
      replace: "if (state === 'deleted' && operation.id === 'listTags') return undefined; if (state === 'deleted') {",
    },
  ),
  patched(
    'effect-deletes-the-newest-repository-too',
    'other.effect.delete-repository#only',
    'deletes the newest repository of the organization together with the one of the request',
    {
      file: REPOSITORIES_FILE,
      find: DELETES_REPOSITORY,
      replace: `world.state.repositories.delete(repository);
        const newest = [...world.state.repositories.list(repository.record.organization)].at(-1);
        if (newest) world.state.repositories.delete(newest);
        return json(200, {`,
    },
  ),
  proxied(
    'effect-merges-the-default-branch-only',
    'other.effect.merge#target',
    'merges the default branch, whatever branch the request names as source',
    changesRequest<{ source_branch?: string }>(/^POST .*\/merge$/, (body) => ({ ...body, source_branch: 'main' })),
  ),
  proxied(
    'effect-merges-into-the-source',
    'other.effect.merge#only',
    'merges the target branch into the source branch',
    changesRequest<{ source_branch?: string; target_branch?: string }>(
      /^POST .*\/merge$/,
      ({ source_branch, target_branch, ...body }) => ({
        ...body,
        source_branch: target_branch,
        target_branch: source_branch,
      }),
    ),
  ),
  proxied(
    'effect-reads-one-note-for-all-commits',
    'other.effect.notes#read',
    'returns the same text for the notes of all commits',
    setsMember(/^GET .*\/notes$/, 'note', 'first note\n', 200),
  ),
  patched('effect-empties-deleted-notes', 'other.effect.notes#delete', 'adds to a note instead of deleting it', {
    file: 'api/operations/notes.js',
    find: DELETES_NOTE,
    replace: "changeNote(ctx, 'append', 'deleted', 200)",
  }),
  patched(
    'effect-keeps-deleted-credentials',
    'other.effect.credentials#delete',
    'answers 204 to the deletion of a Git credential, and keeps the credential',
    [
      { file: CREDENTIALS_FILE, find: 'repository.update({ gitCredential: undefined });', replace: '' },
      {
        file: CREDENTIALS_FILE,
        find: "findOwner(ctx, 'deleteCredentialByBody').update({ gitCredential: undefined });",
        replace: "findOwner(ctx, 'deleteCredentialByBody');",
      },
    ],
  ),
  patched(
    'effect-deletes-all-credentials',
    'other.effect.credentials#delete-only',
    'deletes the Git credentials of all repositories',
    {
      file: CREDENTIALS_FILE,
      find: "findOwner(ctx, 'deleteCredentialByBody').update({ gitCredential: undefined });",
      replace: `findOwner(ctx, 'deleteCredentialByBody');
        for (const one of ctx.world.state.repositories.list(ctx.organization.name))
          if (one.record.gitCredential) one.update({ gitCredential: undefined });`,
    },
  ),
];
