import type { ChangedFile, CommitDiff } from '@emulator/admin/repository-diff.js';
import { useMemo, useState } from 'preact/hooks';
import { ActionButton } from '../components/action.js';
import { Given } from '../components/given.js';
import { ownValue } from '../components/own-value.js';
import { bytes, count } from '../components/time.js';
import { writePlace } from '../place.js';
import { MAX_LINES_OPEN, PatchLines } from './patch-lines.js';
import type { RepositoryPath } from './paths.js';

/**
 * Maximum number of changed lines that the page expands by itself in a diff. A file is expanded if it also has at most
 * `MAX_LINES_OPEN` changed lines.
 */
const MAX_ALL_LINES_OPEN = 1_000;

export interface ChangedFilesProps {
  /** Name of the repository. */
  readonly name: string;
  readonly diff: CommitDiff;
  /** Reads the diff of one file. This is needed for a file that is truncated in the diff of all files. */
  readonly load: (file: FileQuery) => Promise<CommitDiff>;
}

/** Query parameters of a request for the diff of one file. */
export type FileQuery = Readonly<Record<string, string | undefined>>;

/** Changed files of a diff. Each file can be expanded to show its patch. */
export function ChangedFiles({ name, diff: { oid, base, files, is_truncated: isTruncated }, load }: ChangedFilesProps) {
  const isOpenAt = useMemo(() => {
    let left = MAX_ALL_LINES_OPEN;
    return files.map(({ additions, deletions }) => {
      const lines = additions + deletions;
      const isOpen = lines <= Math.min(MAX_LINES_OPEN, left);
      if (isOpen) left -= lines;
      return isOpen;
    });
  }, [files]);
  return (
    <>
      {files.map((file, at) => (
        <File
          key={`${base} ${oid} ${file.path_bytes ?? file.path}`}
          given={file}
          isOpenAtFirst={isOpenAt[at]!}
          hrefOf={(place) => writePlace('repository', { name, tab: 'files', ref: oid, ...place })}
          load={load}
        />
      ))}
      {isTruncated && <p class="quiet">Only the first {count(files.length)} files are shown.</p>}
    </>
  );
}

/** Number of changed files, and numbers of added and removed lines. */
export function ChangeCounts({ files, ...lines }: CommitDiff['stats']) {
  return (
    <>
      {count(files)} {files === 1 ? 'file' : 'files'} changed <Counts {...lines} />
    </>
  );
}

/** Numbers of added and removed lines, shown as `+1 −2`. */
function Counts({ additions, deletions }: { readonly additions: number; readonly deletions: number }) {
  return (
    <>
      <span class="passed">+{count(additions)}</span> <span class="failed">−{count(deletions)}</span>
    </>
  );
}

interface FileProps {
  readonly given: ChangedFile;
  readonly isOpenAtFirst: boolean;
  /** Returns the URL in the web page that shows a file as it is in the commit. */
  readonly hrefOf: (at: RepositoryPath) => string;
  readonly load: ChangedFilesProps['load'];
}

function File({ given, isOpenAtFirst, hrefOf, load }: FileProps) {
  const [isOpen, setOpen] = useState(isOpenAtFirst);
  const [loaded, setLoaded] = useState<ChangedFile>();
  const file = loaded ?? given;
  const { old_mode, mode } = file;
  const at = given.path_bytes === undefined ? { path: given.path } : { path_bytes: given.path_bytes };
  const loadAll = async () => {
    const { old_path, old_path_bytes } = given;
    const before = old_path_bytes === undefined ? { old_path } : { old_path_bytes };
    setLoaded((await load({ ...at, ...before })).files[0]);
  };
  return (
    <div class="diff-file">
      <div class="diff-head">
        <button type="button" class="plain" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          <span aria-hidden="true">{isOpen ? '▾' : '▸'}</span> <ChangeLetter state={file.state} />{' '}
          <span class="mono">
            {file.old_path !== undefined && (
              <>
                <Given text={file.old_path} /> →{' '}
              </>
            )}
            <Given text={file.path} />
          </span>
        </button>
        <span class="diff-counts figures">
          {!file.is_binary && <Counts {...file} />} {file.oid !== null && <a href={hrefOf(at)}>File</a>}
        </span>
      </div>
      {isOpen && (
        <>
          {old_mode !== null && mode !== null && old_mode !== mode && (
            <p class="quiet figures">
              Mode {old_mode} → {mode}
            </p>
          )}
          {file.is_binary ? (
            <p class="quiet">
              Binary: {bytes(file.old_size)} → {bytes(file.size)}
            </p>
          ) : (
            <PatchLines patch={file.patch} path={file.path} oldPath={file.old_path} />
          )}
          {file.is_truncated && !file.is_binary && (
            <p>
              <span class="quiet">The diff of this file is truncated. </span>
              {loaded === undefined && (
                <ActionButton class="small" act={loadAll}>
                  Load more of it
                </ActionButton>
              )}
            </p>
          )}
        </>
      )}
    </div>
  );
}

const CHANGES: Readonly<Record<string, string>> = {
  A: 'added',
  D: 'deleted',
  M: 'modified',
  T: 'type changed',
  R: 'renamed',
  C: 'copied',
};

function ChangeLetter({ state }: { readonly state: string }) {
  const letter = state.slice(0, 1);
  const similarity = state.length > 1 ? `, ${Number(state.slice(1))} % the same` : '';
  return (
    <abbr class={`change change-${letter}`} title={`${ownValue(CHANGES, letter) ?? letter}${similarity}`}>
      {letter}
    </abbr>
  );
}
