import { type Mutant, patched, proxied } from '../mutant.js';
import {
  ignoresPathAndClaim,
  ignoresScope,
  ignoresSignature,
  needsNoRepoClaim,
  takesFirstRepository,
} from '../patches.js';
import { COMMITS, RESET, RESTORE } from '../places.js';
import type { ProxiedResponse, Rewrite } from '../proxy.js';
import {
  changesJson,
  changesRequest,
  changesStatus,
  ignoresMember,
  isAt,
  setsHeader,
  setsMember,
} from '../rewrites.js';

interface Metadata {
  target_branch?: unknown;
  target_commit_sha?: unknown;
  author?: { name?: unknown; email?: unknown } | undefined;
}

/** Adds metadata that a request left out, before the server reads it. */
function assumes(change: (metadata: Metadata) => void): Rewrite {
  return changesRequest<{ metadata?: Metadata }>(RESTORE, ({ metadata }) => {
    if (metadata !== undefined) change(metadata);
  });
}

/** Changes the responses to restore requests whose body `isMeant` selects. */
function refuses(isMeant: (body: string) => boolean, change: (response: ProxiedResponse) => void): Rewrite {
  const bodies = new WeakSet<object>();
  return {
    request: (request) => {
      if (isAt(RESTORE, request) && isMeant(request.body.toString().trim())) bodies.add(request);
    },
    response: (response) => {
      if (bodies.has(response.request)) change(response);
    },
  };
}

const FILE = 'api/operations/restore.js';
const COMMIT_ONTO = 'await commitOnto(transaction, base, tree, write)';

/** Leaves the commits between the target and the new commit of a restore out of the list of commits. */
function hidesUndoneCommits(): Rewrite {
  const restored = new Set<unknown>();
  return {
    response: (response) => {
      const isRestore = isAt(RESTORE, response.request) && response.status === 201;
      if (!isRestore && !(isAt(COMMITS, response.request) && response.status === 200)) return;
      const body: { result?: { new_sha?: unknown }; commits?: { sha: unknown }[] } = JSON.parse(
        response.body.toString(),
      );
      if (isRestore) restored.add(body.result?.new_sha);
      if (!body.commits || !restored.has(body.commits[0]?.sha)) return;
      response.body = Buffer.from(JSON.stringify({ ...body, commits: body.commits.slice(0, 1) }));
    },
  };
}

export const rows: readonly Mutant[] = [
  proxied('restore-answers-200', 'restore.route.v1', 'answers a restore with 200', changesStatus(RESTORE, 201, 200)),
  proxied(
    'restore-hides-undone-commits',
    'restore.effect.history-kept#commit-list',
    'leaves out of the list of commits what a restore has undone',
    hidesUndoneCommits(),
  ),
  proxied(
    'restore-has-no-reset-commits',
    'restore.route.reset-alias',
    'has no route reset-commits',
    changesStatus(RESET, 201, 404),
  ),
  proxied(
    'restore-words-reset-otherwise',
    'restore.route.same-handler',
    'refuses on reset-commits with another status',
    changesStatus(RESET, 400, 422),
  ),
  patched(
    'restore-takes-the-first-repository',
    'restore.repo-from-claim',
    'restores in the first repository of the organization',
    takesFirstRepository('restoreCommit'),
  ),
  patched(
    'restore-ignores-the-name-in-the-path',
    'restore.alias.name-equals-claim',
    'takes the repository of the token, whatever the path names',
    ignoresPathAndClaim('restoreCommit'),
  ),
  patched(
    'restore-needs-no-repo-claim',
    'restore.alias.needs-repo-claim',
    'looks for the repository of a token that names none',
    needsNoRepoClaim('restoreCommit'),
  ),
  proxied(
    'restore-forbids-without-a-token',
    'restore.err.401.no-header',
    'answers a restore without a token with 403',
    changesStatus(/(restore-commit|reset-commits)$/, 401, 403),
  ),
  patched(
    'restore-ignores-the-signature',
    'restore.err.401.invalid-jwt',
    'restores without looking at the signature of a token',
    ignoresSignature('restoreCommit'),
  ),
  patched(
    'restore-ignores-scopes',
    'restore.err.403.scope',
    'restores for a token of any scope',
    ignoresScope('restoreCommit'),
  ),
  proxied(
    'restore-forbids-a-missing-repository',
    'restore.err.404.repo',
    'answers a restore of a missing repository with 403',
    changesStatus(RESTORE, 404, 403),
  ),
  proxied('restore-refuses-credentials-as-results', 'restore.gateway-body', 'refuses a token with a restore result', {
    response: (response) => {
      if (!isAt(RESTORE, response.request) || ![401, 403].includes(response.status)) return;
      response.headers['content-type'] = 'application/json';
      response.body = Buffer.from('{"commit":null,"result":{"success":false,"status":"precondition_failed"}}');
    },
  }),
  patched('restore-moves-the-branch-back', 'restore.effect.new-commit', 'moves the branch to the target commit', {
    file: FILE,
    find: COMMIT_ONTO,
    replace: `await (async () => {
      transaction.update({ name: base.ref, old: base.old, new: target });
      await transaction.prepare();
      return { commit: target, tree, old: base.old, packBytes: 32 };
    })()`,
  }),
  patched('restore-takes-the-tree-before', 'restore.effect.tree', 'brings back what the tip holds already', {
    file: FILE,
    find: COMMIT_ONTO,
    replace: 'await commitOnto(transaction, base, base.tree, write)',
  }),
  patched('restore-drops-the-history', 'restore.effect.history-kept', 'commits on top of the target commit', {
    file: FILE,
    find: COMMIT_ONTO,
    replace: 'await commitOnto(transaction, { ...base, parent: target }, tree, write)',
  }),
  patched('restore-signs-as-itself', 'restore.author.recorded', 'names itself as the author', {
    file: FILE,
    find: "readIdentity(metadata.author, 'metadata.author', now)",
    replace:
      "{ ...readIdentity(metadata.author, 'metadata.author', now), name: 'Service', email: 'service@example.com' }",
  }),
  proxied(
    'restore-makes-up-its-own-message',
    'restore.commit_message.used',
    'makes up its own message',
    ignoresMember(RESTORE, 'commit_message'),
  ),
  proxied(
    'restore-ignores-the-committer',
    'restore.committer.used',
    'takes the author for the committer',
    ignoresMember(RESTORE, 'committer'),
  ),
  proxied(
    'restore-does-not-say-which-tree',
    'restore.resp.commit',
    'leaves the tree out of commit',
    setsMember(RESTORE, 'commit.tree_sha', undefined, 201),
  ),
  proxied(
    'restore-does-not-say-which-branch-it-wrote',
    'restore.resp.result',
    'does not say which branch it wrote',
    setsMember(RESTORE, 'result.branch', '', 201),
  ),
  patched('restore-needs-an-expected-head', 'restore.expected_head.match', 'restores only with expected_head_sha', {
    file: FILE,
    find: 'metadata.expected_target_sha ?? metadata.expected_head_sha',
    replace: "metadata.expected_target_sha ?? metadata.expected_head_sha ?? '0'.repeat(40)",
  }),
  proxied(
    'restore-ignores-expected-head-sha',
    'restore.expected_head.mismatch',
    'does not look at expected_head_sha',
    ignoresMember(RESTORE, 'expected_head_sha'),
  ),
  patched('restore-moves-what-it-refuses', 'restore.expected_head.mismatch', 'restores, and answers 409', {
    file: FILE,
    find: 'const base = findWriteBase(repository, write);',
    replace: `const base = findWriteBase(repository, { ...write, expected: undefined });
      if (write.expected !== undefined && write.expected !== base.old) {
        const { tree } = readCommit(objects, target);
        await commitOnto(transaction, base, tree, write);
        return json(409, failedResult(branch, base.old, 'The branch is elsewhere.'));
      }`,
  }),
  patched('restore-wants-metadata-bare', 'restore.content-type', 'takes the line itself for the metadata', {
    file: FILE,
    find: 'line.metadata',
    replace: 'line',
  }),
  proxied(
    'restore-wants-a-length',
    'restore.body.empty',
    'answers an empty body with 411',
    refuses(
      (body) => body === '',
      (response) => {
        response.status = 411;
      },
    ),
  ),
  proxied(
    'restore-breaks-over-a-line-without-metadata',
    'restore.body.no-metadata',
    'answers a line without metadata with 500',
    refuses(
      (body) => body === '{}',
      (response) => {
        response.status = 500;
      },
    ),
  ),
  proxied(
    'restore-reads-numbers-as-text',
    'restore.fields.invalid#target-branch',
    'takes a number for text',
    assumes((metadata) => {
      if (typeof metadata.target_branch === 'number') metadata.target_branch = 'main';
    }),
  ),
  proxied(
    'restore-assumes-main',
    'restore.target_branch.required',
    'restores main where no branch is named',
    assumes((metadata) => {
      metadata.target_branch ??= 'main';
    }),
  ),
  proxied(
    'restore-assumes-the-first-parent',
    'restore.target_commit_sha.required',
    'restores the commit before where none is named',
    assumes((metadata) => {
      metadata.target_commit_sha ??= 'main~1';
    }),
  ),
  proxied(
    'restore-assumes-an-author',
    'restore.author.required',
    'takes itself for the author where none is named',
    assumes((metadata) => {
      metadata.author ??= { name: 'Service', email: 'service@example.com' };
    }),
  ),
  proxied(
    'restore-assumes-an-address',
    'restore.author.name.required',
    'makes up what is missing of an author',
    assumes((metadata) => {
      if (typeof metadata.author === 'object')
        metadata.author = { name: 'Nobody', email: 'x@example.com', ...metadata.author };
    }),
  ),
  proxied(
    'restore-takes-a-missing-commit-for-a-conflict',
    'restore.err.404.commit',
    'answers a target commit that does not exist with 409',
    changesStatus(RESTORE, 404, 409),
  ),
  proxied(
    'restore-does-not-say-why-it-failed',
    'restore.failure-body',
    'does not say why it failed',
    setsMember(RESTORE, 'result.message', '', 409),
  ),
  proxied(
    'restore-calls-a-conflict-ok',
    'restore.failure-body',
    'has the status ok in the result of a conflict',
    setsMember(RESTORE, 'result.status', 'ok', 409),
  ),
  proxied(
    'restore-calls-a-missing-commit-a-success',
    'restore.failure-body#missing-commit',
    'has success true in the response about a target commit that does not exist',
    changesJson<{ code?: string; result?: { success: boolean } }>(
      RESTORE,
      (body) => {
        delete body.code;
        body.result = { ...body.result, success: true };
      },
      404,
    ),
  ),
  proxied(
    'restore-throttles-the-alias-in-plain-json',
    'restore.err.429.body#alias',
    'throttles reset-commits in plain JSON',
    setsHeader(RESET, 'content-type', 'application/json', 429),
  ),
  proxied(
    'restore-refuses-a-missing-scope-as-a-result',
    'restore.gateway-body#scope',
    'refuses a token without the scope git:write with a restore result',
    changesJson<{ code?: string }>(RESTORE, ({ code }, { headers }) => {
      if (code !== 'insufficient_scope') return;
      headers['content-type'] = 'application/json';
      return { commit: null, result: { success: false, status: 'precondition_failed' } };
    }),
  ),
  proxied(
    'restore-refuses-credentials-of-the-alias-in-plain-json',
    'restore.gateway-body#alias',
    'refuses a token at reset-commits in plain JSON',
    setsHeader(RESET, 'content-type', 'application/json', 403),
  ),
  patched(
    'restore-compares-the-default-branch',
    'restore.already.commit-null#named-branch',
    'changes no branch if the default branch is at the target commit',
    {
      file: FILE,
      find: 'if (base.tree === tree)',
      replace: 'if (base.tree === tree || target === repository.git.refs.headOid)',
    },
  ),
  patched(
    'restore-loses-the-slower-of-two-restores',
    'restore.expected_head.mismatch#race',
    'looks at the tip before it is its turn to write',
    {
      file: FILE,
      find: `return transact(repository, async (transaction) => {
            const base = findWriteBase(repository, write);`,
      replace: `const early = findWriteBase(repository, write);
        await new Promise((resolve) => setTimeout(resolve, 50));
        return transact(repository, async (transaction) => {
            const base = { ...early, old: repository.git.refs.get(early.ref) ?? early.old };`,
    },
  ),
  proxied(
    'restore-throttles-in-plain-json',
    'restore.err.429.body',
    'throttles a restore in plain JSON',
    setsHeader(RESTORE, 'content-type', 'application/json', 429),
  ),
  proxied(
    'restore-shows-an-empty-commit',
    'restore.already.commit-null',
    'shows an empty commit where nothing is to be done',
    setsMember(RESTORE, 'commit', {}, 409),
  ),
  proxied(
    'restore-repeats-the-tip',
    'restore.already.result-empty',
    'says where the branch stands where nothing is to be done',
    setsMember(RESTORE, 'result.new_sha', 'a'.repeat(40), 409),
  ),
  proxied(
    'restore-calls-nothing-to-do-a-success',
    'restore.already.status',
    'calls nothing to do a success',
    setsMember(RESTORE, 'result.success', true, 409),
  ),
  proxied(
    'restore-says-nothing-of-nothing-to-do',
    'restore.already.message',
    'has no message where nothing is to be done',
    setsMember(RESTORE, 'result.message', '', 409),
  ),
  patched('restore-commits-without-need', 'restore.already.no-commit', 'commits where nothing is to be done', {
    file: FILE,
    find: 'alreadyMatches(ctx, textOf(branch), target)',
    replace: `(${COMMIT_ONTO}, alreadyMatches(ctx, textOf(branch), target))`,
  }),
  proxied('restore-fails-in-html', 'restore.failure-body', 'fails with a page', {
    response: (response) => {
      if (isAt(RESTORE, response.request) && response.status === 409) response.body = Buffer.from('<html></html>');
    },
  }),
];
