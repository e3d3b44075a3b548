import type { ChangedFile, CommitDiff } from '@emulator/admin/repository-content.js';
import { useMemo, useState } from 'preact/hooks';
import { get, route } from '../api/client.js';
import { ActionButton } from '../components/action.js';
import { Choice } from '../components/fields.js';
import { Given } from '../components/given.js';
import { useMore } from '../components/lists.js';
import { Loading, useLoaded } from '../components/loaded.js';
import { ownValue } from '../components/own-value.js';
import { bytes, count } from '../components/time.js';
import { writePlace } from '../place.js';
import { readPatch } from './patch.js';
import type { RepositoryPath } from './paths.js';

/**
 * Limits in changed lines. The page expands a file's diff by itself if it has at most `OPEN.file` lines, until
 * `OPEN.all` lines are shown in total. A longer diff shows its first `OPEN.file` lines, and `STEP` more at each click.
 */
const OPEN = { file: 300, all: 1_000 };
const STEP = 1_000;

export interface DiffProps {
  readonly name: string;
  readonly oid: string;
  readonly parents: readonly string[];
}

/** Diff between a commit and one of its parents. If the commit has several parents, the user can choose one. */
export function Diff({ name, oid, parents }: DiffProps) {
  const [parent, setParent] = useState(1);
  const path = route`repositories/${name}/commits/${oid}/diff`;
  const query = { parent: parents.length > 1 ? parent : undefined };
  const load = (files: object, signal?: AbortSignal) =>
    get<CommitDiff>(path, { query: { ...query, ...files }, signal });
  const { value: diff, error } = useLoaded((signal) => load({}, signal), [path, parent]);
  const { files = [], is_truncated: isTruncated } = diff ?? {};
  const isOpenAt = useMemo(() => {
    let left = OPEN.all;
    return files.map(({ additions, deletions }) => {
      const lines = additions + deletions;
      left -= lines;
      return lines <= OPEN.file && left >= 0;
    });
  }, [diff]);
  return (
    <section class="diff" aria-label="Changes">
      <h3 class="figures">
        {diff ? `${count(diff.stats.files)} ${diff.stats.files === 1 ? 'file' : 'files'} changed ` : 'Changes'}
        {diff && <Counts {...diff.stats} />}
        {parents.length > 1 && (
          <Choice
            label="against"
            fieldClass="inline parent-choice"
            value={`${parent}`}
            options={parents.map((each, at) => [`${at + 1}`, `parent ${at + 1}: ${each.slice(0, 8)}`] as const)}
            onChange={(number) => setParent(Number(number))}
          />
        )}
      </h3>
      <Loading value={diff} error={error} />
      {files.map((file, at) => (
        <File
          key={`${parent} ${file.path_bytes ?? file.path}`}
          given={file}
          isOpenAtFirst={isOpenAt[at]!}
          hrefOf={(place) => writePlace('repository', { name, tab: 'files', ref: oid, ...place })}
          load={load}
        />
      ))}
      {isTruncated && <p class="quiet">Only the first {count(files.length)} files are shown.</p>}
    </section>
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
  /**
   * Reads the commit's diff of the given file again. This is needed for a file that was truncated in the diff of all
   * files.
   */
  readonly load: (files: Readonly<Record<string, string | undefined>>) => Promise<CommitDiff>;
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
              Binary: {bytes(file.old_size)} before, {bytes(file.size)} now.
            </p>
          ) : (
            <PatchLines patch={file.patch} />
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

const SIGNS = { added: '+', removed: '−', same: '', heading: '', remark: '' };

function PatchLines({ patch }: { readonly patch: string }) {
  const lines = useMemo(() => readPatch(patch), [patch]);
  const { shown, more } = useMore(lines, { first: OPEN.file, step: STEP, of: 'lines' });
  if (lines.length === 0) return null;
  return (
    <>
      <table class="patch mono">
        <colgroup>
          <col class="of-number" />
          <col class="of-number" />
          <col class="of-sign" />
          <col />
        </colgroup>
        <thead class="visually-hidden">
          <tr>
            <th>Line before</th>
            <th>Line now</th>
            <th>Change</th>
            <th>Text</th>
          </tr>
        </thead>
        <tbody>
          {shown.map(({ kind, text, before, after }, at) => (
            <tr key={at} class={`patch-${kind}`}>
              <td class="line-number">{before}</td>
              <td class="line-number">{after}</td>
              <td class="sign">{SIGNS[kind]}</td>
              <td class="code">
                <Given text={text} most={1_000} hasLines />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {more}
    </>
  );
}
