import type { TreeEntry } from '@emulator/admin/repositories.js';
import type { FoundContent } from '@emulator/admin/repository-content.js';
import type { LastCommits } from '@emulator/admin/repository-last-commits.js';
import { all, get, route } from '../api/client.js';
import { Given, GivenCell } from '../components/given.js';
import { Empty, Failure, Loading, useLoaded } from '../components/loaded.js';
import { Table } from '../components/table.js';
import { bytes, CommitDate } from '../components/time.js';
import { go, place, writePlace } from '../place.js';
import { CloneLine } from './clone-line.js';
import { File, kindOf } from './file.js';
import { childOf, hrefOf, type RepositoryPath, stepsOf } from './paths.js';
import type { OpenedProps } from './records.js';
import { RefChoice } from './ref-choice.js';

/** Number of entries of a folder that are shown at first. Each click on the button below them adds this number. */
const STEP = 1_000;

/** Tab of a repository that shows a folder or a file as it is at a ref. The user can choose the ref. */
export function Files({ opened: { record, refs } }: OpenedProps) {
  const { name, default_branch, head } = record;
  const { path, path_bytes, ref: given = '' } = place.value.params;
  // If HEAD refers to no commit, the files of the first ref that refers to a commit are shown. HEAD itself would show
  // no files.
  const ref = given === '' && head === null ? (refs.find(({ commit }) => commit !== null)?.name ?? '') : given;
  const at: RepositoryPath = path_bytes === undefined ? { path } : { path_bytes };
  const { value: found, error } = useLoaded(
    async (signal) => {
      if (ref === '' && head === null) return undefined;
      const query = { ref: ref === '' ? undefined : ref, ...at };
      const content = await get<FoundContent>(route`repositories/${name}/content`, { query, signal });
      if (content.type !== 'tree') return { content, entries: undefined };
      const tree = route`repositories/${name}/tree/${content.oid}`;
      const entries = await all<TreeEntry>(tree, { query: { limit: 1000 }, signal });
      return { content, entries };
    },
    [name, ref, path, path_bytes],
  );
  if (ref === '' && head === null) {
    return (
      <Empty title="No files yet">
        <p>Files come with the first push:</p>
        <CloneLine name={name} />
      </Empty>
    );
  }
  return (
    <div class="files fill">
      <div class="toolbar">
        <RefChoice
          refs={refs}
          chosen={ref}
          first={head === null ? [] : [['', default_branch === null ? 'HEAD' : `Default (${default_branch})`]]}
          onChoose={(chosen) => go(hrefOf(at, { ref: chosen }))}
        />
        <Steps name={name} at={at} />
      </div>
      <Loading value={found} error={error} />
      {found && <Content key={found.content.oid} name={name} {...found} />}
    </div>
  );
}

interface ContentProps {
  /** Name of the repository. */
  readonly name: string;
  readonly content: FoundContent;
  /** Entries of a folder; undefined for other content. */
  readonly entries: readonly TreeEntry[] | undefined;
}

/**
 * Content of a folder or file. Its path comes from the response, because the path in the page's URL differs while other
 * content is being loaded.
 */
function Content({ name, content, entries }: ContentProps) {
  const { path, path_bytes } = content;
  const at: RepositoryPath = path_bytes === undefined ? { path } : { path_bytes };
  if (entries === undefined) return <File name={name} at={at} found={content} />;
  return <Folder name={name} commit={content.commit} at={at} entries={entries} />;
}

function Steps({ name, at }: { readonly name: string; readonly at: RepositoryPath }) {
  const steps = stepsOf(at);
  return (
    <nav class="path-steps mono grow" aria-label="Path">
      <a href={hrefOf({})} aria-current={steps.length === 0 ? 'page' : undefined}>
        {name.split('/').at(-1)}
      </a>
      {steps.map((step, index) => (
        <span key={index}>
          {' / '}
          <a href={hrefOf(step.at)} aria-current={index === steps.length - 1 ? 'page' : undefined}>
            <Given text={step.name} most={200} />
          </a>
        </span>
      ))}
    </nav>
  );
}

type LastCommit = LastCommits['commits'][number];

/**
 * Loads the commits that last changed the entries of a folder. In a long history, this takes longer than loading the
 * entries, which are therefore shown first. Returns a function that finds the commit of an entry.
 */
function useLastCommits(name: string, commit: string, at: RepositoryPath) {
  const { value, error } = useLoaded(
    async (signal) => {
      const path = route`repositories/${name}/last-commits`;
      const { entries, commits } = await get<LastCommits>(path, { query: { ref: commit, ...at }, signal });
      const byOid = new Map(commits.map((one) => [one.oid, one]));
      return new Map(entries.map((entry) => [entry.name_bytes ?? entry.name, byOid.get(entry.commit)]));
    },
    [name, commit, at.path, at.path_bytes],
  );
  const lastCommitOf = (entry: TreeEntry): LastCommit | undefined => value?.get(entry.name_bytes ?? entry.name);
  return { lastCommitOf, isLoaded: value !== undefined, error };
}

interface FolderProps {
  /** Name of the repository. */
  readonly name: string;
  /** Id of the commit that contains the folder. */
  readonly commit: string;
  readonly at: RepositoryPath;
  readonly entries: readonly TreeEntry[];
}

/** Entries of a folder, each with the commit that last changed it. Subfolders are listed before files. */
function Folder({ name, commit, at, entries }: FolderProps) {
  const { lastCommitOf, isLoaded, error } = useLastCommits(name, commit, at);
  const inOrder = [...entries.filter(({ type }) => type === 'tree'), ...entries.filter(({ type }) => type !== 'tree')];
  return (
    <div class="folder">
      <Failure error={error} />
      <Table
        label="Files"
        empty="The folder is empty."
        isHeadHidden
        items={inOrder}
        keyOf={({ name, name_bytes }) => name_bytes ?? name}
        most={STEP}
        columns={[
          [
            'Name',
            (entry) => (
              <>
                <span aria-hidden="true" class="entry-sign">
                  {SIGNS[entry.type]}
                </span>
                <a href={hrefOf(childOf(at, entry))}>
                  <GivenCell text={entry.name} />
                </a>
              </>
            ),
            'cell-name mono',
          ],
          [
            'Last commit',
            (entry) => {
              const last = lastCommitOf(entry);
              if (last === undefined) return isLoaded || error !== undefined ? '' : '…';
              return (
                <a href={writePlace('repository', { name, tab: 'commits', ref: commit, commit: last.oid })}>
                  <GivenCell text={last.subject === '' ? 'no message' : last.subject} most={120} />
                </a>
              );
            },
            'last-commit quiet',
          ],
          [
            'Changed',
            (entry) => {
              const last = lastCommitOf(entry);
              return last && <CommitDate at={last.committed_at} />;
            },
            'quiet nowrap',
          ],
          ['Kind', (entry) => kindOf(entry), 'quiet nowrap'],
          ['Size', ({ size }) => (size === null ? '' : bytes(size)), 'number nowrap'],
        ]}
      />
    </div>
  );
}

const SIGNS = { tree: '▸', blob: ' ', commit: '↗' };
