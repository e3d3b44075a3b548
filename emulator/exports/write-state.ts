import { createHash } from 'node:crypto';
import { isFixtureKey } from '../auth/fixture-keys.js';
import type { Limits } from '../config/limits.js';
import type { Variants } from '../config/variants.js';
import { packageVersion } from '../config/version.js';
import { concatBytes, latin1 } from '../git/object/bytes.js';
import type { ObjectStore } from '../git/odb/object-store.js';
import { describePack } from '../git/pack-objects/pack-index.js';
import { writePack } from '../git/pack-objects/pack-writer.js';
import type { Refs } from '../git/refs/refs.js';
import type { KeptContent } from '../repositories/content.js';
import type { RepositoryRecord } from '../repositories/repository.js';
import { MANIFEST } from '../sources/open-source.js';
import type { Webhook } from '../webhooks/webhook.js';
import type { WorldConfig } from '../world/config.js';
import type { Engine } from '../world/engine.js';
import type { Organization } from '../world/organizations.js';
import type { WorldSnapshot } from '../world/state.js';
import { repositoryFolder } from './file-names.js';
import { nameText } from './record-text.js';
import { FORMAT, type ListedRepository, type RepositoryFile, VERSION, type WorldManifest } from './schema.js';

/** One file of an export. */
export interface StateFile {
  /** Below the folder of the export; a folder ends with a slash. */
  readonly path: string;
  readonly size: number;
  /**
   * `content`: its name says what is in it, and nothing but the manifest says that it counts. `git`: for Git to read, and
   * not read here. `manifest`: what is there; it comes behind all that it names.
   */
  readonly kind: 'content' | 'git' | 'manifest' | 'folder';
  content(): AsyncIterable<Uint8Array>;
}

/** Packs of a repository that were written before, and how many of its objects are in them. */
export interface WrittenPacks {
  readonly objects: number;
  readonly packs: readonly { readonly checksum: string; readonly size: number; readonly index: number }[];
}

export interface WriteOptions {
  /** With passwords, secrets of webhooks and variables of deployments. */
  readonly secrets: boolean;
  /** By repository id; updated. Only of the same world. */
  readonly written?: Map<string, WrittenPacks>;
  /** Told of each repository that is done. */
  readonly progress?: (done: number, all: number) => void;
}

interface Written {
  readonly config: WorldConfig;
  readonly engine: Engine;
}

/** A file whose bytes are at hand. */
export function fileOf(path: string, bytes: Buffer | string, kind: StateFile['kind'] = 'content'): StateFile {
  const content = Buffer.from(bytes as string);
  return {
    path,
    size: content.length,
    kind,
    async *content() {
      if (content.length > 0) yield content;
    },
  };
}

/** The same text for the same value, in whatever order its members were set; the format comes first. */
function jsonOf(value: object): string {
  const sorted = (_: string, member: unknown): unknown => {
    if (typeof member !== 'object' || member === null || Array.isArray(member)) return member;
    const entries = Object.entries(member).sort(([one], [other]) => (one < other ? -1 : 1));
    return Object.fromEntries(entries.sort(([one], [other]) => Number(other === 'format') - Number(one === 'format')));
  };
  return `${JSON.stringify(value, sorted, 1)}\n`;
}

/** The files of a world as it was when the snapshot was taken, the manifest last. */
export async function* writeWorld(
  snapshot: WorldSnapshot,
  { config, engine }: Written,
  options: WriteOptions,
): AsyncGenerator<StateFile> {
  const { records, contents, syncing } = snapshot.repositories;
  const listed: ListedRepository[] = [];
  const all = [...records.byId.values()];
  for (const [index, record] of all.entries()) {
    const { organization, name, id, sequence, createdAt } = record;
    const entry: ListedRepository = { organization, name, id, sequence, created_at: createdAt };
    // What was being filled never was, unless it has an upstream.
    const isUnfinished = syncing.includes(id) && !record.baseRepo;
    if (record.state === 'deleted' || isUnfinished) listed.push(entry);
    else {
      const folder = repositoryFolder(organization, name);
      const text = yield* writeRepository(folder, record, contents.get(id)!, engine, options);
      listed.push({ ...entry, folder, record: text });
    }
    options.progress?.(index + 1, all.length);
  }
  const manifest: WorldManifest = {
    format: FORMAT,
    version: VERSION,
    written_by: packageVersion(),
    content: 'world',
    secrets: options.secrets,
    world: worldPart(snapshot, config, options),
    repositories: listed,
  };
  yield fileOf(MANIFEST, jsonOf(manifest), 'manifest');
}

function worldPart(snapshot: WorldSnapshot, config: WorldConfig, { secrets }: WriteOptions): WorldManifest['world'] {
  const { clock, ids, requests, conversations, settings, organizations, quotas, webhooks, searches } = snapshot;
  const showWebhook = ({ secret, events, ...rest }: Webhook) => ({
    ...rest,
    events: [...events],
    ...(secrets && { secret }),
  });
  return {
    clock: { ...clock },
    ids: Object.fromEntries(ids),
    requests,
    conversations,
    settings: {
      limits: changed<Limits>(settings.limits, config.limits),
      variants: changed<Variants>(settings.variants, config.variants),
    },
    organizations: [...organizations.values()].map(showOrganization),
    quotas: {
      quotas: [...quotas.quotas.values()].map((quota) => ({
        ...quota,
        by: [...quota.by],
        cost: quota.cost.map(([op, tokens]) => [op, tokens]),
      })),
      buckets: [...quotas.buckets],
    },
    webhooks: [...webhooks.values()].map(showWebhook),
    deliveries: [...snapshot.deliveries.byId.values()].map(({ webhook, body, attempts, nextAttemptAt, ...rest }) => ({
      ...rest,
      webhook: showWebhook(webhook),
      body: body.toString(),
      attempts: [...attempts],
      ...(nextAttemptAt !== undefined && { next_attempt_at: nextAttemptAt }),
    })),
    deliveries_ended: [...snapshot.deliveries.ended],
    searches: [...searches],
    created: snapshot.repositories.records.created,
  };
}

/** What was set anew since the start. */
function changed<Values extends object>(values: Values, before: Values): Record<string, never> {
  const old = new Map<string, unknown>(Object.entries(before));
  return Object.fromEntries(Object.entries(values).filter(([name, value]) => old.get(name) !== value)) as Record<
    string,
    never
  >;
}

/** Of keys only the public part was ever there. */
function showOrganization({ keys, ...organization }: Organization): WorldManifest['world']['organizations'][number] {
  return {
    ...organization,
    keys: Array.from(keys.keys(), ({ kid, allowedScopes, publicKey }) => ({
      id: kid,
      allowed_scopes: [...allowedScopes] as ['*'],
      ...(!isFixtureKey(publicKey) && { public_key: publicKey.export({ type: 'spki', format: 'pem' }).toString() }),
    })),
  };
}

/** What Git needs beside objects and refs to take a folder for a repository. */
const CONFIG = '[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = true\n';

/** A bare repository as Git reads it, and what Git does not know of it. Returns the name of the file of its record. */
async function* writeRepository(
  folder: string,
  record: RepositoryRecord,
  kept: KeptContent,
  engine: Engine,
  { secrets, written }: WriteOptions,
): AsyncGenerator<StateFile, string> {
  const content = engine.forkContent(kept);
  try {
    const packs = yield* writePacks(folder, content.objects, written?.get(record.id));
    written?.set(record.id, { objects: content.objects.size, packs });
    for (const [oid, { size, blocks }] of record.lfsObjects?.entries() ?? []) {
      yield {
        path: lfsPath(folder, oid),
        size,
        kind: 'content',
        async *content() {
          yield* blocks;
        },
      };
    }
    yield* gitFiles(folder, record.refs);
    const names = packs.map(({ checksum }) => `pack-${checksum}.pack`);
    const text = Buffer.from(jsonOf(showRecord(record, names, secrets)));
    const name = `record-${createHash('sha1').update(text).digest('hex')}.json`;
    yield fileOf(`${folder}/${name}`, text);
    return name;
  } finally {
    content.release();
  }
}

export function lfsPath(folder: string, oid: string): string {
  return `${folder}/lfs/objects/${oid.slice(0, 2)}/${oid.slice(2, 4)}/${oid}`;
}

const NONE: WrittenPacks = { objects: 0, packs: [] };
/** Packs of a repository that is saved again and again. */
const MOST_PACKS = 20;

/** The objects in packs: those that were written before, and one of all that came since. */
async function* writePacks(
  folder: string,
  objects: ObjectStore,
  given: WrittenPacks = NONE,
): AsyncGenerator<StateFile, WrittenPacks['packs']> {
  // Many small ones are made one.
  const before = given.packs.length < MOST_PACKS ? given : NONE;
  const packs = [...before.packs];
  for (const { checksum, size, index } of packs) {
    const stale = (): never => {
      throw new Error('a pack that was written before is not there any more');
    };
    yield { path: `${folder}/objects/pack/pack-${checksum}.pack`, size, kind: 'content', content: stale };
    yield { path: `${folder}/objects/pack/pack-${checksum}.idx`, size: index, kind: 'content', content: stale };
  }
  yield { path: `${folder}/objects/pack/`, size: 0, kind: 'folder', content: async function* () {} };
  const numbers = Int32Array.from({ length: objects.size - before.objects }, (_, at) => before.objects + at);
  if (numbers.length === 0) return packs;
  const { checksum, size, index } = await describePack(objects, numbers);
  const path = `${folder}/objects/pack/pack-${checksum}`;
  yield { path: `${path}.pack`, size, kind: 'content', content: () => writePack(objects, numbers) };
  yield fileOf(`${path}.idx`, index);
  return [...packs, { checksum, size, index: index.length }];
}

function* gitFiles(folder: string, refs: Refs): Generator<StateFile> {
  yield { path: `${folder}/refs/`, size: 0, kind: 'folder', content: async function* () {} };
  yield fileOf(`${folder}/config`, CONFIG, 'git');
  let packed = latin1`# pack-refs with: sorted \n`;
  const lines = [packed];
  for (const [name, { oid }] of refs.entries()) lines.push(latin1`${oid} ${name}\n`);
  packed = lines.join('') as typeof packed;
  yield fileOf(`${folder}/packed-refs`, Buffer.from(packed, 'latin1'), 'git');
  const head = 'symref' in refs.head ? concatBytes(latin1`ref: `, refs.head.symref) : refs.head.oid;
  yield fileOf(`${folder}/HEAD`, Buffer.from(`${head}\n`, 'latin1'), 'git');
}

function showRecord(record: RepositoryRecord, packs: string[], secrets: boolean): RepositoryFile {
  const { state, override, refs, baseRepo, gitCredential, hosting, deployments, lfsObjects, lfsLocks } = record;
  const { head } = refs;
  return {
    // A run has ended with the world that it ran in.
    state: state === 'archived' || state === 'thawing' ? state : 'active',
    ...(override && { override }),
    head: 'symref' in head ? { symref: nameText(head.symref) } : { oid: head.oid },
    refs: Array.from(refs.entries(), ([name, { oid, createdAt }]) => [nameText(name), oid, createdAt]),
    packs,
    ...(baseRepo && { base_repo: baseRepo }),
    ...(gitCredential && secrets && { credential: gitCredential }),
    ...(hosting && { hosting: { ...hosting, env: secrets ? Object.fromEntries(hosting.env) : undefined } }),
    ...(deployments && {
      deployments: {
        items: [...deployments.newest()]
          .reverse()
          .map(({ statuses, ...rest }) => ({ ...rest, ...(statuses && { statuses: [...statuses] }) })),
        keys: Array.from(deployments.keyedRequests(), ([key, { request, id }]) => ({ key, request, id })),
      },
    }),
    lfs_objects: Array.from(lfsObjects?.entries() ?? [], ([oid, { size, storedAt }]) => ({
      oid,
      size,
      stored_at: storedAt,
    })),
    lfs_locks: [...(lfsLocks?.list() ?? [])],
  };
}

/** One repository alone, for another emulator to fill its own from. */
export async function* writeSingle(
  record: RepositoryRecord,
  kept: KeptContent,
  engine: Engine,
  target: { readonly name: string; readonly organization?: string | undefined; readonly as: 'history' | 'files' },
): AsyncGenerator<StateFile> {
  const folder = 'repository.git';
  yield* writeRepository(folder, record, kept, engine, { secrets: false });
  const { name, organization, as } = target;
  const manifest = {
    format: FORMAT,
    version: VERSION,
    written_by: packageVersion(),
    content: 'repository',
    name,
    ...(organization !== undefined && { organization }),
    as,
    folder,
  };
  yield fileOf(MANIFEST, jsonOf(manifest), 'manifest');
}
