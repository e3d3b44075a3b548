import { z } from 'zod';
import type { KeyRing } from '../auth/keys.js';
import { decide, needsSignedCommits, type RefPolicy } from '../auth/policy.js';
import { isSignedWithRing } from '../auth/ssh-signature.js';
import { textOf } from '../git/object/bytes.js';
import { payloadOf, readCommit } from '../git/object/commit.js';
import { COMMIT, type ObjectReader, type Oid, readAs } from '../git/object/object.js';
import { Meter } from '../git/schedule/meter.js';
import { problem } from '../http/problem.js';
import type { HandlerContext } from '../operation/handler-context.js';
import { operation } from '../operation/operation.js';
import { type Service, serviceOf } from '../smart-http/advertise.js';
import { type GitRequest, NO_CACHE, type PushHooks } from '../smart-http/git-service.js';
import type { ProposedUpdate } from '../smart-http/proposed-update.js';
import { type Namespace, type RepositoryView, viewOf } from '../smart-http/view.js';

const infoRefsQuery = z.object({ service: z.string().optional() });

export const gitInfoRefs = operation<z.infer<typeof infoRefsQuery>>({
  id: 'gitInfoRefs',
  group: 'Git',
  summary: 'Ref advertisement of a Git remote',
  routes: [{ method: 'GET', path: '/{repo_name}.git/info/refs' }],
  head: false,
  scopes: ['git:read'],
  subject: 'repository',
  effect: 'read',
  // What advertises itself for a push is refused as the push would be, so that git shows why.
  purposeOf: (query) =>
    serviceOf(query.get('service') ?? undefined) === 'git-receive-pack' ? gitReceivePack : gitUploadPack,
  dialect: 'git',
  query: infoRefsQuery,
  replies: { 200: 'application/x-git-upload-pack-advertisement' },
  errors: ['sync_in_progress'],
  handle(ctx) {
    const service = serviceOf(ctx.query.service);
    if (!service) {
      // gitprotocol-http: a service that is not recognized MUST be answered with 403.
      const detail =
        ctx.query.service === undefined
          ? 'This host speaks the smart HTTP protocol only; please upgrade your git client.'
          : `Unsupported service: '${ctx.query.service}'`;
      throw problem('forbidden', detail, { headers: NO_CACHE });
    }
    return ctx.world.engine.gitService.infoRefs(viewFor(ctx, service), service, requestOf(ctx));
  },
});

export const gitUploadPack = operation({
  id: 'gitUploadPack',
  group: 'Git',
  summary: 'Git fetch and clone',
  routes: [{ method: 'POST', path: '/{repo_name}.git/git-upload-pack' }],
  scopes: ['git:read'],
  subject: 'repository',
  effect: 'read',
  dialect: 'git',
  reads: 'stream',
  replies: { 200: 'application/x-git-upload-pack-result' },
  errors: ['payload_too_large', 'unsupported_media_type'],
  handle: (ctx) => ctx.world.engine.gitService.uploadPack(viewFor(ctx, 'git-upload-pack'), requestOf(ctx)),
});

export const gitReceivePack = operation({
  id: 'gitReceivePack',
  group: 'Git',
  summary: 'Git push',
  routes: [{ method: 'POST', path: '/{repo_name}.git/git-receive-pack' }],
  scopes: ['git:write'],
  subject: 'repository',
  effect: 'write',
  dialect: 'git',
  reads: 'stream',
  replies: { 200: 'application/x-git-receive-pack-result' },
  errors: ['payload_too_large', 'unsupported_media_type'],
  handle: (ctx) =>
    ctx.world.engine.gitService.receivePack(viewFor(ctx, 'git-receive-pack'), requestOf(ctx), pushHooksOf(ctx)),
});

/** What the remote shows. `+import` is there for bulk pushes and shows nothing to readers. */
function viewFor(ctx: Pick<HandlerContext, 'params' | 'repository'>, service: Service): RepositoryView {
  const namespace = (ctx.params.namespace ?? '') as Namespace;
  if (namespace === 'import' && service === 'git-upload-pack') {
    throw problem('forbidden', 'The import remote takes pushes only; fetch from the remote without +import.', {
      headers: NO_CACHE,
    });
  }
  return viewOf(ctx.repository.git, namespace);
}

function requestOf(ctx: Pick<HandlerContext, 'header' | 'stream' | 'signal' | 'world'>): GitRequest {
  return {
    header: (name) => ctx.header(name),
    body: (most) => ctx.stream(most),
    // Watching whether the client is still there has its cost: most requests are over before they would ask.
    get signal() {
      return ctx.signal;
    },
    sessionId: () => ctx.world.nextSessionId(),
  };
}

function pushHooksOf({ claims, repository, organization, params, world }: PushContext): PushHooks {
  const isArchiving = params.namespace === 'import' && world.config.variants.afterImport === 'archived';
  return {
    ...(isArchiving && { onUpdated: () => repository.archive() }),
    policy: (update) =>
      decideUpdate(update, claims.policy, organization.keys, new Meter({ schedule: world.engine.schedule })),
  };
}

type PushContext = Pick<HandlerContext, 'claims' | 'repository' | 'organization' | 'params' | 'world'>;

/** The token's word on a push. */
async function decideUpdate(
  update: ProposedUpdate,
  policy: RefPolicy,
  keys: KeyRing,
  meter: Meter,
): Promise<string | undefined> {
  if (policy.length === 0) return undefined;
  const ref = textOf(update.change.name);
  const reason = decide(policy, ref, 'push') ?? (update.isForced ? decide(policy, ref, 'force') : undefined);
  if (reason !== undefined || !needsSignedCommits(policy, ref)) return reason;
  for (const oid of update.newCommits()) {
    if (!isSigned(update.objects, oid, keys)) return 'denied by policy (verify-sig)';
    if (meter.isOver) await meter.pass();
  }
  return undefined;
}

function isSigned(objects: ObjectReader, oid: Oid, keys: KeyRing): boolean {
  const { signature } = readCommit(objects, oid);
  return signature !== undefined && isSignedWithRing(signature, payloadOf(readAs(objects, oid, COMMIT)), keys);
}
