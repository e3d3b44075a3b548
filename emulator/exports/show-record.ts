import type { ByteString } from '../git/object/bytes.js';
import type { HostingProject } from '../repositories/hosting.js';
import { NO_LOCKS } from '../repositories/lfs-locks.js';
import { NO_LFS_OBJECTS } from '../repositories/lfs-objects.js';
import type { RepositoryRecord } from '../repositories/repository.js';
import { listOf } from './list-files.js';
import { digestedName, jsonOf, nameText } from './read-json.js';
import { camelCased } from './schema.js';

function* keyed<Name extends string, Value extends Readonly<Record<Name, string>>>(
  values: Iterable<Value>,
  name: Name,
): Generator<readonly [string, Value]> {
  for (const value of values) yield [value[name], value];
}

function showHosting({ env, ...settings }: HostingProject, secrets: boolean): object {
  return { ...camelCased(settings), ...(secrets && { env: Object.fromEntries(env) }) };
}

/**
 * Returns the JSON value of a record file: the state of one repository without its objects. `packs` names the pack
 * files with its objects. `secrets` is true to include passwords and environment variables.
 */
export function showRecord(record: RepositoryRecord, packs: readonly string[], secrets: boolean): object {
  const { state, override, thaw, refs, baseRepo, gitCredential, hosting, deployments, deploymentKeys } = record;
  const { lfsObjects = NO_LFS_OBJECTS, lfsLocks = NO_LOCKS } = record;
  const { head } = refs;
  return {
    // Exports a state such as `syncing` as active. It depends on work of this process, which an export cannot contain.
    state: state === 'archived' || state === 'thawing' ? state : 'active',
    ...(override && { override }),
    ...(thaw && { thaw }),
    head: 'symref' in head ? { symref: nameText(head.symref) } : { oid: head.oid },
    refs: listOf(refs.size, refs.entries(), (name, { oid, createdAt }) => [
      nameText(name as ByteString),
      oid,
      createdAt,
    ]),
    packs,
    ...(baseRepo && { base_repo: baseRepo }),
    ...(gitCredential && secrets && { credential: gitCredential }),
    ...(hosting && { hosting: showHosting(hosting, secrets) }),
    ...(deployments && {
      deployments: {
        items: listOf(deployments.size, keyed(deployments.list(), 'id')),
        keys: listOf(deployments.size, deploymentKeys?.entries() ?? [], (key, request) => ({ key, ...request })),
      },
    }),
    lfs_objects: listOf(lfsObjects.size, lfsObjects.entries(), (oid, { size, storedAt }) => ({
      oid,
      size,
      stored_at: storedAt,
    })),
    lfs_locks: listOf(lfsLocks.size, keyed(lfsLocks.list(), 'path')),
  };
}

/** Returns the name and the content of a repository's record file. The name contains the SHA-1 of the content. */
export function recordFile(shown: object): { readonly name: string; readonly text: Buffer } {
  const text = Buffer.from(jsonOf(shown));
  return { name: digestedName('record', text), text };
}
