import { type EmulatorOptions, OptionError, resolveOptions } from '../config/options.js';
import { importPath, type OnImport, openState, openStateFolder, organizationsIn } from '../exports/open-state.js';
import { Persistence } from '../exports/persistence.js';
import { translateError } from '../http/problem.js';
import { type FileTree, SourceError } from '../sources/file-tree.js';
import type { CurrentWorld } from '../world/current-world.js';

/** Persistent storage of the emulator's state in a folder while the service runs. */
export interface KeptState {
  /** Saves the current state, then each change. Throws `OptionError` if the current state cannot be saved. */
  begin(): Promise<void>;
  /** Saves the current state. Resolves to false if saving failed. */
  save(): Promise<boolean>;
  /** Saves the state for the last time. Warns the user and resolves to false if saving failed. */
  close(): Promise<boolean>;
}

/** Part of the saved state of an earlier run that the service needs before it starts. */
export interface SavedState {
  /** Start options. The organizations of the saved state follow those that the user named. */
  readonly options: EmulatorOptions;
  /**
   * Files of the exported state that the option `import` refers to. Undefined if the option is absent or refers to a
   * Git repository. Also undefined if the folder of the option `persist` already contains a state.
   */
  readonly opened: FileTree | undefined;
}

/**
 * Reads the organizations of the saved state. The state is in the folder of the option `persist`; if there is none, in
 * the source of the option `import`. Throws `OptionError`.
 */
export function readSavedState(options: EmulatorOptions): Promise<SavedState> {
  return translateError(
    SourceError,
    async () => {
      const kept = options.persist === undefined ? undefined : await openStateFolder(options.persist);
      const opened = kept || options.import === undefined ? undefined : await openState(options.import);
      // Errors are ignored, because `openKeptState` reads the folder again and reports them.
      const found = kept ? await organizationsIn(kept).catch(() => []) : opened ? await organizationsIn(opened) : [];
      if (found.length === 0) return { options, opened };
      const isDefault = options.org.join() === resolveOptions({}).org.join();
      const { org } = resolveOptions({ org: [...new Set([...(isDefault ? [] : options.org), ...found])] });
      return { options: { ...options, org }, opened };
    },
    asOptionError,
  );
}

/**
 * Loads the state from the folder of the option `persist`. If that folder is empty, loads the state of the option
 * `import`. Returns the storage for later changes; undefined without `persist`. If it throws `OptionError`, nothing was
 * changed.
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
    save: () => kept.save().then(succeeded, () => false),
    close: async () => {
      if (!hasBegun) return kept.abandon().then(succeeded);
      return kept.close().then(succeeded, (error: Error) => {
        warn(error.message);
        return false;
      });
    },
  };
}

const succeeded = () => true;

function asOptionError({ message }: SourceError): OptionError {
  return new OptionError(message);
}
