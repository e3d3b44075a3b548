import type { ByteString } from '../git/object/bytes.js';
import { type Deployment, NO_DEPLOYMENTS } from '../repositories/deployments.js';
import type { HostingProject } from '../repositories/hosting.js';
import { NO_LOCKS } from '../repositories/lfs-locks.js';
import { NO_LFS_OBJECTS } from '../repositories/lfs-objects.js';
import type { RepositoryRecord } from '../repositories/repository.js';
import { type List, listOf, type Shown } from './list-files.js';
import { digestedName, jsonOf, nameText } from './read-json.js';
import { camelCased } from './schema.js';

export type RecordListName = 'refs' | 'deployments' | 'deploymentKeys' | 'lfsObjects' | 'lfsLocks';

/** The lists of a record that grow with use. */
export function recordLists(record: RepositoryRecord): Readonly<Record<RecordListName, List>> {
  const { refs, deployments = NO_DEPLOYMENTS, lfsObjects = NO_LFS_OBJECTS, lfsLocks = NO_LOCKS } = record;
  return {
    refs: listOf(refs.size, refs.entries(), (name, { oid, createdAt }) => [
      nameText(name as ByteString),
      oid,
      createdAt,
    ]),
    deployments: listOf(deployments.size, keyed(deployments.list(), 'id'), (_, deployment) =>
      showDeployment(deployment),
    ),
    deploymentKeys: listOf(deployments.size, record.deploymentKeys?.entries() ?? [], (key, { request, id }) => ({
      key,
      request,
      id,
    })),
    lfsObjects: listOf(lfsObjects.size, lfsObjects.entries(), (oid, { size, storedAt }) => ({
      oid,
      size,
      stored_at: storedAt,
    })),
    lfsLocks: listOf(lfsLocks.size, keyed(lfsLocks.list(), 'path'), (_, lock) => lock),
  };
}

function* keyed<Name extends string, Value extends Readonly<Record<Name, string>>>(
  values: Iterable<Value>,
  name: Name,
): Generator<readonly [string, Value]> {
  for (const value of values) yield [value[name], value];
}

function showDeployment({ statuses, ...rest }: Deployment): object {
  return { ...rest, ...(statuses && { statuses: [...statuses] }) };
}

function showHosting({ env, ...settings }: HostingProject, secrets: boolean): object {
  return { ...camelCased(settings), ...(secrets && { env: Object.fromEntries(env) }) };
}

/** A record as a file, which is named by the SHA-1 of its content. What is not in one of `lists` is small. */
export function writeRecord(
  record: RepositoryRecord,
  packs: readonly string[],
  secrets: boolean,
  lists: Shown<RecordListName>,
): { readonly name: string; readonly text: Buffer } {
  const { state, override, thaw, refs, baseRepo, gitCredential, hosting, deployments } = record;
  const { head } = refs;
  const shown = {
    // A run has ended with the world that it ran in.
    state: state === 'archived' || state === 'thawing' ? state : 'active',
    ...(override && { override }),
    ...(thaw && { thaw }),
    head: 'symref' in head ? { symref: nameText(head.symref) } : { oid: head.oid },
    refs: lists.refs,
    packs,
    ...(baseRepo && { base_repo: baseRepo }),
    ...(gitCredential && secrets && { credential: gitCredential }),
    ...(hosting && { hosting: showHosting(hosting, secrets) }),
    ...(deployments && { deployments: { items: lists.deployments, keys: lists.deploymentKeys } }),
    lfs_objects: lists.lfsObjects,
    lfs_locks: lists.lfsLocks,
  };
  const text = Buffer.from(jsonOf(shown));
  return { name: digestedName('record', text), text };
}
