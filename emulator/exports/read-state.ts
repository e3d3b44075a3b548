import { fixtureRing } from '../auth/fixture-keys.js';
import { KeyRing, type RegisteredKey } from '../auth/keys.js';
import { registeredKey } from '../auth/public-key.js';
import { RUNNING_LIMITS } from '../config/limits.js';
import { parseVariants } from '../config/variants.js';
import { bytesOf, textOf } from '../git/object/bytes.js';
import { checkShape } from '../http/body.js';
import { secretOf } from '../ids/ids.js';
import { type FileTree, SourceError } from '../sources/file-tree.js';
import { openGitDirectory } from '../sources/git-directory.js';
import { MANIFEST } from '../sources/open-source.js';
import { seedFrom } from '../sources/seed.js';
import type { Seeded } from '../sources/seeded.js';
import type { Attempt } from '../webhooks/delivery.js';
import type { Webhook } from '../webhooks/events.js';
import type { CurrentWorld } from '../world/current-world.js';
import type { Organization } from '../world/organizations.js';
import { releaseRepositories } from '../world/repositories.js';
import type { WorldSnapshot } from '../world/state.js';
import { World } from '../world/world.js';
import { joinLists } from './list-files.js';
import { checked, readJson } from './read-json.js';
import { type Fail, type ReadRepositories, readRepositories } from './read-repositories.js';
import { FORMAT, type Manifest, manifestSchema, VERSION, type WorldManifest } from './schema.js';

/**
 * Reads `emulator.json`, the manifest of a saved state, and the lists in other files that it names. Throws
 * `SourceError` if the file is not a manifest, or has an unknown version.
 */
export async function readManifest(tree: FileTree): Promise<Manifest> {
  const given = await readJson(tree, MANIFEST);
  const { format, version } = (typeof given === 'object' && given !== null ? given : {}) as Record<string, unknown>;
  if (format !== FORMAT)
    throw new SourceError(`${tree.title} is not an export of an emulator: ${MANIFEST} names another format.`);
  if (version !== VERSION) {
    throw new SourceError(
      `${tree.title} has the format version ${JSON.stringify(version)}; only ${VERSION} is supported. It was not changed.`,
    );
  }
  const joined = await joinLists(given, tree, '');
  return checked(() => checkShape(manifestSchema(), joined, MANIFEST), tree);
}

/**
 * Replaces the whole state of the emulator with an export, atomically, and only if the whole export is valid. State
 * that the export lacks is reset to that of a new emulator. Returns the repositories and their files in the export.
 * Throws `SourceError` if the export is invalid.
 */
export async function readWorld(
  current: CurrentWorld,
  tree: FileTree,
  manifest: WorldManifest,
): Promise<ReadRepositories> {
  const { config, engine } = current;
  const blank = new World(config, engine);
  const fresh = blank.snapshot();
  releaseRepositories(fresh.repositories, engine.memory);
  await blank.close();
  const fail = (why: string) => new SourceError(`${tree.title}: ${why}.`);
  const parts = readParts(fresh, manifest, current, fail);
  const read = await readRepositories(current, tree, manifest, fail);
  try {
    await current.replace({ ...fresh, ...parts, repositories: read.snapshot });
    return read.repositories;
  } finally {
    releaseRepositories(read.snapshot, engine.memory);
  }
}

function readParts(
  fresh: WorldSnapshot,
  { world }: WorldManifest,
  { config }: CurrentWorld,
  fail: Fail,
): Partial<WorldSnapshot> {
  const names = config.organizations.map(({ name }) => name);
  const missing = world.organizations.find(({ name }) => !names.includes(name));
  if (missing) {
    throw fail(
      `it has the organization ${missing.name}, which this emulator does not have. Start the emulator with ${[...names, missing.name].map((name) => `--org ${name}`).join(' ')}`,
    );
  }
  const organizations = new Map(
    config.organizations.map((own, index) => {
      const saved = world.organizations.find(({ name }) => name === own.name);
      if (!saved) return [own.name, own];
      const { keys, ...rest } = saved;
      const { temporary: _, ...base } = own;
      return [own.name, { ...base, ...rest, keys: readKeys(keys, own, index, fail) } satisfies Organization];
    }),
  );
  /**
   * Returns the webhook with its secret. If the export omits secrets, derives the secret from the emulator's seed and
   * the webhook's id.
   */
  const withSecret = ({ secret, ...webhook }: WorldManifest['world']['webhooks'][number]): Webhook => {
    const drawn = `whsec_${secretOf(config.seed, `webhook ${webhook.id}`).toString('hex').slice(0, 24)}`;
    return { ...webhook, secret: secret ?? drawn };
  };
  const ended = world.deliveries.filter(({ state }) => state !== 'pending').map(({ id }) => id);
  if (new Set(world.deliveries.map(({ id }) => id)).size < world.deliveries.length)
    throw fail('two deliveries have the same id');
  if (ended.toSorted().join() !== world.deliveries_ended.toSorted().join()) {
    throw fail('deliveries_ended does not list exactly the deliveries that are not pending');
  }
  const foreign = world.webhooks.find(({ organization }) => !organizations.has(organization));
  if (foreign) throw fail(`the organization ${foreign.organization} of a webhook does not exist`);
  const limit = Object.keys(world.settings.limits).find(
    (name) => !(RUNNING_LIMITS as readonly string[]).includes(name),
  );
  if (limit !== undefined)
    throw fail(`its settings have the limit ${limit}, which can only be set when an emulator starts`);
  try {
    parseVariants(world.settings.variants);
  } catch (error) {
    throw fail((error as Error).message.replace(/\.$/, ''));
  }
  return {
    clock: world.clock,
    ids: new Map(Object.entries(world.ids)),
    requests: world.requests,
    conversations: world.conversations,
    settings: {
      limits: { ...fresh.settings.limits, ...world.settings.limits },
      variants: { ...fresh.settings.variants, ...(world.settings.variants as object) },
    },
    organizations,
    quotas: {
      quotas: new Map(world.quotas.quotas.map((quota) => [quota.name, quota])),
      buckets: new Map(world.quotas.buckets),
    },
    webhooks: new Map(world.webhooks.map((webhook) => [webhook.id, withSecret(webhook)])),
    deliveries: {
      byId: new Map(
        world.deliveries.map(({ webhook, body, attempts: made, next_attempt_at: next, ...rest }) => {
          const isPending = rest.state === 'pending';
          const nextAttemptAt = isPending ? (next ?? world.clock.time) : undefined;
          const attempts = made as readonly Attempt[];
          return [rest.id, { ...rest, attempts, webhook: withSecret(webhook), body: Buffer.from(body), nextAttemptAt }];
        }),
      ),
      ended: new Set(world.deliveries_ended),
    },
    searches: new Set(world.searches),
  };
}

/**
 * Returns the keys of an organization: those in the export, and those with which this emulator was started. Keeps a
 * published test key, whose private key is public, only if this emulator permits it.
 */
function readKeys(
  saved: WorldManifest['world']['organizations'][number]['keys'],
  { name, keys: own }: Organization,
  index: number,
  fail: Fail,
): KeyRing {
  const published = fixtureRing(index);
  const keys: RegisteredKey[] = [];
  for (const { id, allowed_scopes: allowedScopes, public_key: pem } of saved) {
    if (pem === undefined) {
      const known = own.find(id) ?? undefined;
      if (known && published.find(id)) keys.push(known);
      continue;
    }
    const refuse = (why: string) => fail(`the key ${id} of ${name} ${why.replace(/\.$/, '')}`);
    keys.push(registeredKey(pem, { id, allowedScopes }, refuse));
  }
  const isNew = ({ kid }: RegisteredKey) => !published.find(kid) && !keys.some((key) => key.kid === kid);
  return new KeyRing([...keys, ...[...own.keys()].filter(isNew)]);
}

/** Result of an import of an emulator's whole state (`world`), or of one repository. */
export interface Imported {
  readonly content: 'world' | 'repository';
  readonly repositories: number;
  readonly repository?: Seeded;
  /**
   * Only for a world. `found` contains its repositories and their files. `hasSecrets` is true if the export includes
   * passwords and secrets.
   */
  readonly found?: ReadRepositories;
  readonly hasSecrets?: boolean;
}

/**
 * Imports an export (whole state or one repository) from its files, completely or not at all. `organization` receives a
 * single repository if the export names no organization. Throws `SourceError` if the export is invalid.
 */
export async function importTree(current: CurrentWorld, tree: FileTree, organization: string): Promise<Imported> {
  const manifest = await readManifest(tree);
  if (manifest.content === 'world') {
    const found = await readWorld(current, tree, manifest);
    const living = manifest.repositories.filter(({ folder }) => folder !== undefined);
    return { content: 'world', repositories: living.length, found, hasSecrets: manifest.secrets };
  }
  const { name, as, folder, organization: named = organization } = manifest;
  const maxBytes = current.config.limits.maxObjectBytes;
  const source = await openGitDirectory(tree, bytesOf(folder), maxBytes);
  const title = `The repository ${name}`;
  const branch =
    source.head && 'symref' in source.head ? textOf(source.head.symref).slice('refs/heads/'.length) : 'main';
  const repository = await seedFrom(current.world, named, name, { ...source, title }, { as, defaultBranch: branch });
  return { content: 'repository', repositories: 1, repository };
}
