import { type EmulatorOptions, OptionError } from '../config/options.js';
import { importPath } from '../exports/open-state.js';
import { Persistence } from '../exports/persistence.js';
import { SourceError } from '../sources/file-tree.js';
import type { CurrentWorld } from '../world/current-world.js';

/** What keeps the state, for as long as the service runs. */
export interface KeptState {
  /** Saves what there is, and from now on what changes. Throws `OptionError` where even that cannot be saved. */
  begin(): Promise<void>;
  /** Saves once more. */
  close(): Promise<void>;
}

/**
 * Begins with what `persist` and `import` name: the folder of the first one, where something is in it, else the second.
 * Throws `OptionError`, and then nothing was touched.
 */
export async function openKeptState(
  current: CurrentWorld,
  { import: source, persist: folder, includeSecrets: secrets }: EmulatorOptions,
  warn: (sentence: string) => void,
): Promise<KeptState | undefined> {
  let kept: Persistence | undefined;
  try {
    const opened = folder === undefined ? undefined : await Persistence.open(current, { folder, secrets, warn });
    kept = opened?.persistence;
    if (source !== undefined && (opened?.isNew ?? true)) await importPath(current, source);
  } catch (error) {
    await kept?.abandon();
    throw worded(error);
  }
  current.keepAsInitial();
  return kept && whileOpen(kept);
}

function whileOpen(kept: Persistence): KeptState {
  let hasBegun = false;
  return {
    begin: async () => {
      try {
        await kept.begin();
        hasBegun = true;
      } catch (error) {
        throw worded(error);
      }
    },
    close: () => (hasBegun ? kept.close() : kept.abandon()),
  };
}

function worded(error: unknown): unknown {
  return error instanceof SourceError ? new OptionError(error.message) : error;
}
