import { z } from 'zod';
import type { KeyRing } from '../../auth/keys.js';
import { decide, needsSignedCommits } from '../../auth/policy.js';
import { isSignedWithRing } from '../../auth/ssh-signature.js';
import { NO_BYTES, textOf } from '../../git/object/bytes.js';
import { payloadOf, readCommit } from '../../git/object/commit.js';
import { COMMIT, type ObjectReader, type Oid, readAs } from '../../git/object/object.js';
import { problem } from '../../http/problem.js';
import { type HandlerContext, operationsOf } from '../../operation/operation.js';
import { EPHEMERAL } from '../../repositories/branch-write.js';
import { Meter } from '../../schedule/meter.js';
import { type Service, serviceOf } from '../../smart-http/advertise.js';
import { NO_CACHE } from '../../smart-http/git-service.js';
import { commitsBroughtBy, losesCommits, type ProposedUpdate } from '../../smart-http/receive-pack.js';
import type { RepositoryView } from '../../smart-http/view.js';

const operation = operationsOf('Git', { dialect: 'git' });

export const gitInfoRefs = operation({
  summary: 'Ref advertisement of a Git remote',
  routes: [{ method: 'GET', path: '/{repo_name}.git/info/refs' }],
  head: false,
  // The ref advertisement before a push requires the same permissions as the push. A forbidden push is thus refused
  // early, with a reason that git shows.
  purposeOf: (query) =>
    serviceOf(query.get('service') ?? undefined) === 'git-receive-pack' ? gitReceivePack : gitUploadPack,
  query: () => z.object({ service: z.string().optional() }),
  replies: () => ({ 200: 'application/x-git-upload-pack-advertisement' }),
  errors: ['sync_in_progress'],
  handle(ctx) {
    const service = serviceOf(ctx.query.service);
    if (!service) {
      // The status is 403, as gitprotocol-http requires for an unknown service.
      const detail =
        ctx.query.service === undefined
          ? 'This host speaks the smart HTTP protocol only; please upgrade your git client.'
          : `Unsupported service: '${ctx.query.service}'`;
      throw problem('forbidden', detail, { headers: NO_CACHE });
    }
    const sessionId = ctx.world.nextSessionId();
    return ctx.world.engine.gitService.infoRefs(viewFor(ctx, service), service, ctx, sessionId);
  },
});

export const gitUploadPack = operation({
  summary: 'Git fetch and clone',
  routes: [{ method: 'POST', path: '/{repo_name}.git/git-upload-pack' }],
  scopes: ['git:read'],
  reads: 'stream',
  replies: () => ({ 200: 'application/x-git-upload-pack-result' }),
  errors: ['payload_too_large', 'unsupported_media_type'],
  handle: (ctx) => ctx.world.engine.gitService.uploadPack(viewFor(ctx, 'git-upload-pack'), ctx),
});

export const gitReceivePack = operation({
  summary: 'Git push',
  routes: [{ method: 'POST', path: '/{repo_name}.git/git-receive-pack' }],
  reads: 'stream',
  replies: () => ({ 200: 'application/x-git-receive-pack-result' }),
  errors: ['payload_too_large', 'unsupported_media_type'],
  handle: async (ctx) => {
    const { params, repository, world } = ctx;
    const updateHook = (update: ProposedUpdate) => refusalByPolicy(ctx, update);
    const { reply, moved } = await world.engine.gitService.receivePack(
      viewFor(ctx, 'git-receive-pack'),
      ctx,
      updateHook,
    );
    const isImported = params.namespace === 'import' && moved.length > 0;
    if (isImported && world.variants.afterImport === 'archived') repository.archive();
    return reply;
  },
});

/**
 * Returns the view of the repository that a remote URL gives access to. `<name>+ephemeral.git` gives access only to the
 * refs of the ephemeral namespace. `<name>+import.git` is for bulk pushes to the normal refs, and refuses fetches.
 */
function viewFor(
  { params, repository }: Pick<HandlerContext, 'params' | 'repository'>,
  service: Service,
): RepositoryView {
  if (params.namespace === 'import' && service === 'git-upload-pack') {
    throw problem(
      'forbidden',
      'The +import remote accepts only pushes. Fetch from the remote whose URL has no +import.',
      {
        headers: NO_CACHE,
      },
    );
  }
  return { repository: repository.git, prefix: params.namespace === 'ephemeral' ? EPHEMERAL : NO_BYTES };
}

/**
 * Returns the reason why the token's policy refuses a ref update of a push; undefined if the update is permitted. If
 * the policy requires signed commits, all new commits are checked.
 */
async function refusalByPolicy(
  { claims, organization, world }: Pick<HandlerContext, 'claims' | 'organization' | 'world'>,
  update: ProposedUpdate,
): Promise<string | undefined> {
  const { policy } = claims;
  if (policy.length === 0) return undefined;
  const ref = textOf(update.change.name);
  const reason = decide(policy, ref, 'push') ?? (losesCommits(update) ? decide(policy, ref, 'force') : undefined);
  if (reason !== undefined || !needsSignedCommits(policy, ref)) return reason;
  const meter = new Meter({ schedule: world.engine.schedule });
  for (const oid of commitsBroughtBy(update)) {
    if (!isSigned(update.objects, oid, organization.keys)) return 'denied by policy (verify-sig)';
    if (meter.shouldYield) await meter.yieldToEventLoop();
  }
  return undefined;
}

function isSigned(objects: ObjectReader, oid: Oid, keys: KeyRing): boolean {
  const { signature } = readCommit(objects, oid);
  return signature !== undefined && isSignedWithRing(signature, payloadOf(readAs(objects, oid, COMMIT)), keys);
}
