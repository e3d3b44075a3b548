import type { Seeded } from '../sources/seeded.js';
import type { CurrentWorld } from '../world/current-world.js';

/** Options of `export`. */
export interface ExportOptions {
  /**
   * True to include secrets: credentials of upstreams, secrets of webhooks and variables of deployments. False by
   * default.
   */
  readonly includeSecrets?: boolean | undefined;
}

/**
 * Source that `import` reads. It is the bytes of an export, or a path: an export (tar file or folder), a folder, a Git
 * repository, a bundle, or the URL of a repository to clone.
 */
export type ImportSource = string | URL | Uint8Array;

/** Options of `import` for a source that is one repository. */
export interface ImportOptions {
  /** Name of the imported repository. The default is the last part of the path. */
  readonly repo?: string | undefined;
  /** Organization that gets the repository; by default, the first organization of the emulator. */
  readonly org?: string | undefined;
}

/** Result of `import`. */
export interface Imported {
  /** `world` if the source replaced the whole state, `repository` if it is one repository. */
  readonly content: 'world' | 'repository';
  /** Number of imported repositories. */
  readonly repositories: number;
  /** The imported repository; present only if `content` is `repository`. */
  readonly repository?: Seeded;
}

/** Returns an export of the current world (state of one service) as a tar archive. @internal */
export async function exportWorld(
  current: CurrentWorld,
  { includeSecrets = false }: ExportOptions = {},
): Promise<Uint8Array> {
  // The module is imported on demand, so that programs that export nothing do not load it.
  const { exportArchive } = await import('../exports/export-archive.js');
  const pieces: Uint8Array[] = [];
  for await (const piece of exportArchive(current, includeSecrets)) pieces.push(piece);
  return Buffer.concat(pieces);
}

/** Imports an export or a repository into the current world. Rejects with `SourceError` if it is invalid. @internal */
export async function importWorld(
  current: CurrentWorld,
  source: ImportSource,
  { repo, org }: ImportOptions = {},
): Promise<Imported> {
  const { importPath, openArchive } = await import('../exports/open-state.js');
  const opened = source instanceof Uint8Array ? await openArchive(source) : undefined;
  const path = opened ? 'The archive' : String(source);
  const { content, repositories, repository } = await importPath(current, path, {
    name: repo,
    organization: org,
    opened,
  });
  return { content, repositories, ...(repository && { repository }) };
}
