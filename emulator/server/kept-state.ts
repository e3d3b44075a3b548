import { type EmulatorOptions, OptionError, resolveOptions } from '../config/options.js';
import { importPath, type OnImport, openState, openStateFolder, organizationsIn } from '../exports/open-state.js';
import { Persistence } from '../exports/persistence.js';
import { translateError } from '../http/problem.js';
import { type FileTree, SourceError } from '../sources/file-tree.js';
import type { CurrentWorld } from '../world/current-world.js';

/** What keeps the state, for as long as the service runs. */
export interface KeptState {
  /** Saves what there is, and from now on what changes. Throws `OptionError` where even that cannot be saved. */
  begin(): Promise<void>;
  /** Saves what there is. Resolves to false if that failed. */
  save(): Promise<boolean>;
  /** Saves once more, and warns if that fails. Resolves to false if it did. */
  close(): Promise<boolean>;
}

/** A state that was read as far as the service has to know before it begins. */
export interface SavedState {
  /** With the organizations that the state has; those that were named come first. */
  readonly options: EmulatorOptions;
  /** What `import` leads to, where that is a state. */
  readonly opened: FileTree | undefined;
}

/** Looks into what `persist` and `import` name. Throws `OptionError`. */
export function readSavedState(options: EmulatorOptions): Promise<SavedState> {
  return translateError(
    SourceError,
    async () => {
      const kept = options.persist === undefined ? undefined : await openStateFolder(options.persist);
      const opened = kept || options.import === undefined ? undefined : await openState(options.import);
      // What is wrong with a folder to keep is said when it is taken.
      const found = kept ? await organizationsIn(kept).catch(() => []) : opened ? await organizationsIn(opened) : [];
      if (found.length === 0) return { options, opened };
      const isUsual = options.org.join() === resolveOptions({}).org.join();
      const { org } = resolveOptions({ org: [...new Set([...(isUsual ? [] : options.org), ...found])] });
      return { options: { ...options, org }, opened };
    },
    asOptionError,
  );
}

/**
 * Begins with what `persist` and `import` name: the folder of the first one, where something is in it, else the second.
 * Throws `OptionError`, and then nothing was touched.
 */
export async function openKeptState(
  current: CurrentWorld,
  { options: { import: source, persist: folder, includeSecrets: secrets }, opened: tree }: SavedState,
  { warn, onImport }: { readonly warn: (sentence: string) => void; readonly onImport: OnImport | undefined },
): Promise<KeptState | undefined> {
  let kept: Persistence | undefined;
  const open = async () => {
    const opened = folder === undefined ? undefined : await Persistence.open(current, { folder, secrets, warn });
    kept = opened?.persistence;
    if (source !== undefined && (opened?.isNew ?? true)) await importPath(current, source, { opened: tree, onImport });
  };
  try {
    await translateError(SourceError, open, asOptionError);
  } catch (error) {
    await kept?.abandon();
    throw error;
  }
  current.keepAsInitial();
  return kept && whileOpen(kept, warn);
}

function whileOpen(kept: Persistence, warn: (sentence: string) => void): KeptState {
  let hasBegun = false;
  return {
    begin: async () => {
      await translateError(SourceError, () => kept.begin(), asOptionError);
      hasBegun = true;
    },
    save: () => kept.save().then(isDone, () => false),
    close: async () => {
      if (!hasBegun) return kept.abandon().then(isDone);
      return kept.close().then(isDone, (error: Error) => {
        warn(error.message);
        return false;
      });
    },
  };
}

const isDone = () => true;

function asOptionError({ message }: SourceError): OptionError {
  return new OptionError(message);
}
