import { type Mutant, type Patch, patched, proxied } from '../mutant.js';
import { RESET, RESTORE } from '../places.js';
import type { Rewrite } from '../proxy.js';
import {
  answersBody,
  changesRequest,
  changesStatus,
  ignoresMember,
  isAt,
  type Place,
  setsMember,
} from '../rewrites.js';

interface Metadata {
  target_branch?: unknown;
  target_commit_sha?: unknown;
  author?: unknown;
  committer?: unknown;
  commit_message?: unknown;
  expected_head_sha?: unknown;
}

interface Person {
  name?: unknown;
  email?: unknown;
}

const ZEROS = '0'.repeat(40);
const FILE = 'api/operations/restore.js';

/** Changes the metadata of restore requests to `place` before the server reads it. */
function changesMetadata(place: Place, change: (metadata: Metadata) => void): Rewrite {
  return changesRequest<{ metadata?: Metadata }>(place, ({ metadata }) => {
    if (metadata !== undefined) change(metadata);
  });
}

/**
 * Makes a restore write other entries into the root tree of its commit. `entries` is a JavaScript expression for these
 * entries. It can use two maps from name to entry: `wanted` (the commit to restore) and `present` (the current tip).
 */
function restoresEntries(entries: string): Patch {
  return {
    file: FILE,
    find: 'await commitOnto(transaction, base, tree, write)',
    replace: `await (async () => {
      const { readTree } = await import('../../git/object/read-tree.js');
      const { writeTree } = await import('../../git/object/tree.js');
      const { TREE } = await import('../../git/object/object.js');
      const read = (oid) => {
        const reading = readTree(transaction.objects, oid);
        let step = reading.next();
        while (!step.done) step = reading.next();
        return new Map(step.value.map((entry) => [entry.name, entry]));
      };
      const [wanted, present] = [read(tree), read(base.tree)];
      const made = transaction.objects.write(TREE, writeTree(${entries}));
      return commitOnto(transaction, base, made, write);
    })()`,
  };
}

/**
 * Makes a restore compare the tip with a wrong commit. `replacement` is a JavaScript expression for that commit. In it,
 * `given` is the request's expected head, which a correct server uses.
 */
function expects(replacement: string): Patch {
  return {
    file: FILE,
    find: 'metadata.expected_target_sha ?? metadata.expected_head_sha',
    replace: `((given) => {
      const { refs, objects } = repository.git;
      const tipOf = (name) => refs.get(branchRef(name, false));
      return ${replacement};
    })(metadata.expected_target_sha ?? metadata.expected_head_sha)`,
  };
}

const EXPECTS_DEFAULT = `given === undefined || given === tipOf(repository.defaultBranch) ? undefined : '${ZEROS}'`;

/** Servers that restore another commit, or another branch, than the request names. */
const EFFECTS: readonly Mutant[] = [
  proxied(
    'restore-restores-main-always',
    'restore.effect.new-commit#named-branch',
    'restores main, whatever branch is named',
    changesMetadata(RESTORE, (metadata) => {
      if (typeof metadata.target_branch === 'string' && metadata.target_branch.startsWith('side-')) {
        metadata.target_branch = 'main';
      }
    }),
  ),
  patched(
    'restore-leaves-changed-files',
    'restore.effect.tree#changed',
    'does not restore the content of files that exist',
    restoresEntries(`[...wanted.values()].map((entry) => {
      const old = present.get(entry.name);
      return old !== undefined && old.mode === entry.mode && old.mode !== 0o40000 ? old : entry;
    })`),
  ),
  patched(
    'restore-leaves-deleted-files',
    'restore.effect.tree#deleted',
    'does not bring back files that were deleted',
    restoresEntries('[...wanted.values()].filter(({ name }) => present.has(name))'),
  ),
  patched(
    'restore-leaves-added-files',
    'restore.effect.tree#added',
    'does not delete files that were added',
    restoresEntries('[...new Map([...present, ...wanted]).values()]'),
  ),
  patched(
    'restore-leaves-modes',
    'restore.effect.tree#mode',
    'does not restore the modes of files',
    restoresEntries(`[...wanted.values()].map((entry) => {
      const old = present.get(entry.name);
      return old !== undefined && old.oid === entry.oid ? old : entry;
    })`),
  ),
  patched(
    'restore-goes-one-commit-back',
    'restore.effect.tree#named-commit',
    'restores the parent of the tip, whatever commit is named',
    {
      file: FILE,
      find: 'const { tree } = readCommit(objects, target);',
      replace: 'const { tree } = readCommit(objects, readCommit(objects, base.parent).parents[0] ?? target);',
    },
  ),
  proxied(
    'restore-takes-the-committer-for-the-author',
    'restore.committer.used#author-stays',
    'takes the committer for the author',
    changesMetadata(RESTORE, (metadata) => {
      metadata.author = metadata.committer ?? metadata.author;
    }),
  ),
  patched(
    'restore-takes-commits-of-other-repositories',
    'restore.err.404.commit#other-repository',
    'finds the commits of every repository of the organization',
    {
      file: FILE,
      find: "if (!(error instanceof Problem) || error.code !== 'ref_not_found')",
      replace: `for (const other of ctx.world.state.repositories.list(ctx.organization.name)) {
        if (/^[0-9a-f]{40}$/.test(ref) && other.git.objects.find(ref) >= 0) {
          return readCommit(ctx.repository.git.objects, ctx.repository.git.refs.headOid).parents[0];
        }
      }
      if (!(error instanceof Problem) || error.code !== 'ref_not_found')`,
    },
  ),
];

/** Servers that compare `expected_head_sha` with something other than the tip of the named branch. */
const EXPECTED_HEADS: readonly Mutant[] = [
  patched(
    'restore-expects-the-head-of-the-default-branch',
    ['restore.expected_head.match#other-branch', 'restore.expected_head.mismatch#other-branch'],
    'compares expected_head_sha with the tip of the default branch',
    expects(EXPECTS_DEFAULT),
  ),
  patched(
    'restore-accepts-a-stale-head',
    'restore.expected_head.mismatch#stale',
    'accepts the parent of the tip as expected_head_sha',
    expects('readCommit(objects, tipOf(branch)).parents.includes(given) ? undefined : given'),
  ),
  patched(
    'restore-accepts-an-unknown-head',
    'restore.expected_head.mismatch#unknown',
    'does not look at an expected_head_sha that no commit has',
    expects('given !== undefined && objects.find(given) < 0 ? undefined : given'),
  ),
  patched(
    'restore-accepts-the-head-of-any-branch',
    'restore.expected_head.mismatch#tip-of-another-branch',
    'accepts the tip of any branch as expected_head_sha',
    expects('[...refs.entries()].some(([, { oid }]) => oid === given) ? undefined : given'),
  ),
  proxied(
    'restore-takes-zeros-for-no-expected-head',
    'restore.expected_head.mismatch#zeros',
    'takes an expected_head_sha of zeros for none',
    changesMetadata(RESTORE, (metadata) => {
      if (metadata.expected_head_sha === ZEROS) delete metadata.expected_head_sha;
    }),
  ),
  proxied(
    'restore-ignores-a-shortened-head',
    'restore.expected_head.mismatch#shortened',
    'does not look at an expected_head_sha of fewer than 40 digits',
    changesMetadata(RESTORE, (metadata) => {
      if (String(metadata.expected_head_sha).length !== 40) delete metadata.expected_head_sha;
    }),
  ),
];

/** Servers that accept metadata that they must refuse. */
const REFUSALS: readonly Mutant[] = [
  proxied(
    'restore-takes-a-number-for-a-message',
    'restore.fields.invalid#commit-message',
    'takes a number for a message',
    changesMetadata(RESTORE, (metadata) => {
      if (typeof metadata.commit_message === 'number') metadata.commit_message = String(metadata.commit_message);
    }),
  ),
  proxied(
    'restore-passes-over-a-committer-that-is-no-object',
    'restore.fields.invalid#committer',
    'does not look at a committer that is not an object',
    changesMetadata(RESTORE, (metadata) => {
      if (typeof metadata.committer !== 'object') delete metadata.committer;
    }),
  ),
  proxied(
    'restore-makes-up-the-name-of-an-author',
    'restore.author.name.required#name',
    'makes up the name of an author',
    changesMetadata(RESTORE, (metadata) => {
      const { email } = (metadata.author ?? {}) as Person;
      if (email !== undefined) metadata.author = { name: email, ...(metadata.author as Person) };
    }),
  ),
  proxied(
    'restore-makes-up-the-address-of-an-author',
    'restore.author.name.required#email',
    'makes up the email of an author',
    changesMetadata(RESTORE, (metadata) => {
      const { name } = (metadata.author ?? {}) as Person;
      if (name !== undefined) metadata.author = { email: 'x@example.com', ...(metadata.author as Person) };
    }),
  ),
  proxied(
    'restore-takes-a-number-for-a-name',
    'restore.fields.invalid#name',
    'takes a number for the name of an author',
    changesMetadata(RESTORE, ({ author }) => {
      const person = (author ?? {}) as Person;
      if (typeof person.name === 'number') person.name = String(person.name);
    }),
  ),
  proxied(
    'restore-takes-null-for-main',
    'restore.fields.invalid#null',
    'takes null for main as the name of a branch',
    changesMetadata(RESTORE, (metadata) => {
      if (metadata.target_branch === null) metadata.target_branch = 'main';
    }),
  ),
  proxied(
    'restore-breaks-over-null',
    'restore.body.no-metadata#not-an-object',
    'answers a body that is null with 500',
    answersBody(RESTORE, (body) => body.trim() === 'null', 500),
  ),
  proxied(
    'restore-breaks-over-a-malformed-sha',
    'restore.err.404.commit#malformed',
    'answers a target commit that is not an SHA with 500',
    answersBody(RESTORE, (body) => body.includes('no such commit'), 500),
  ),
];

/** Servers whose route `reset-commits` behaves differently from `restore-commit`, although it is an alias. */
const RESETS: readonly Mutant[] = [
  proxied(
    'reset-goes-one-commit-back',
    'restore.route.reset-alias#tree',
    'restores the parent of the tip on reset-commits',
    changesMetadata(RESET, (metadata) => {
      if (metadata.target_commit_sha !== undefined) metadata.target_commit_sha = 'main~1';
    }),
  ),
  proxied(
    'reset-makes-up-its-own-message',
    'restore.route.reset-alias#message',
    'makes up its own message on reset-commits',
    ignoresMember(RESET, 'commit_message'),
  ),
  proxied(
    'reset-takes-the-committer-for-the-author',
    'restore.route.reset-alias#author',
    'takes the committer for the author on reset-commits',
    changesMetadata(RESET, (metadata) => {
      metadata.author = metadata.committer ?? metadata.author;
    }),
  ),
  proxied(
    'reset-ignores-the-committer',
    'restore.route.reset-alias#committer',
    'takes the author for the committer on reset-commits',
    ignoresMember(RESET, 'committer'),
  ),
  proxied(
    'reset-refuses-every-expected-head',
    'restore.route.reset-alias#expected-head',
    'compares expected_head_sha with another tip on reset-commits',
    changesMetadata(RESET, (metadata) => {
      if (metadata.expected_head_sha !== undefined) metadata.expected_head_sha = ZEROS;
    }),
  ),
  proxied(
    'reset-does-not-say-which-tree',
    'restore.route.reset-alias#commit',
    'leaves the tree out of commit on reset-commits',
    setsMember(RESET, 'commit.tree_sha', undefined, 201),
  ),
  proxied(
    'reset-has-no-old-tip',
    'restore.route.reset-alias#result',
    'shows zeros as the old tip on reset-commits',
    setsMember(RESET, 'result.old_sha', ZEROS, 201),
  ),
  proxied(
    'reset-praises-successes',
    'restore.route.reset-alias#result',
    'has a message for a success on reset-commits',
    setsMember(RESET, 'result.message', 'The branch was reset.', 201),
  ),
  proxied(
    'reset-calls-a-missing-commit-a-conflict',
    'restore.route.same-handler#missing-commit',
    'answers a target commit that does not exist with 409 on reset-commits',
    changesStatus(RESET, 404, 409),
  ),
  proxied(
    'reset-ignores-the-expected-head',
    'restore.route.same-handler#expected-head',
    'does not look at expected_head_sha on reset-commits',
    ignoresMember(RESET, 'expected_head_sha'),
  ),
  proxied(
    'reset-shows-the-tip-where-nothing-is-to-be-done',
    'restore.route.same-handler#already',
    'shows the tip of the branch if nothing had to be restored on reset-commits',
    {
      response: (response) => {
        if (!isAt(RESET, response.request)) return;
        const text = response.body.toString().replace('"old_sha":""', `"old_sha":"${'a'.repeat(40)}"`);
        response.body = Buffer.from(text);
      },
    },
  ),
  proxied(
    'reset-takes-an-empty-body',
    'restore.route.same-handler#empty-body',
    'answers an empty body on reset-commits with 200',
    answersBody(RESET, (body) => body === '', 200),
  ),
  proxied(
    'reset-fills-in-an-author',
    'restore.route.same-handler#no-author',
    'takes an author of its own if a request to reset-commits names none',
    changesRequest<{ metadata?: Metadata }>(RESET, ({ metadata }) => {
      if (metadata?.target_branch !== undefined) metadata.author ??= { name: 'Nobody', email: 'nobody@example.com' };
    }),
  ),
];

/** Servers that fail only in special cases: the commit to restore has a parent, or is also the expected head. */
const TARGETS: readonly Mutant[] = [
  patched(
    'restore-takes-the-parent-of-the-commit',
    'restore.effect.tree#not-parent',
    'restores the parent of the named commit, if it has one',
    {
      file: 'api/operations/restore.js',
      find: 'const { tree } = readCommit(objects, target);',
      replace: 'const { tree } = readCommit(objects, readCommit(objects, target).parents[0] ?? target);',
    },
  ),
  patched(
    'restore-expects-the-target',
    'restore.expected_head.mismatch#target',
    'accepts the commit to restore as expected_head_sha',
    {
      file: 'api/operations/restore.js',
      find: 'metadata.expected_target_sha ?? metadata.expected_head_sha',
      replace: '(metadata.expected_head_sha === target ? undefined : metadata.expected_head_sha)',
    },
  ),
];

export const rows: readonly Mutant[] = [...EFFECTS, ...EXPECTED_HEADS, ...REFUSALS, ...RESETS, ...TARGETS];
