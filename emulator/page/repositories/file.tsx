import type { BlobRecord, TreeEntry } from '@emulator/admin/repositories.js';
import type { Blame, FoundContent } from '@emulator/admin/repository-content.js';
import { useMemo, useState } from 'preact/hooks';
import { get, route } from '../api/client.js';
import { CopyButton } from '../components/copy.js';
import { Dialog } from '../components/dialog.js';
import { GivenBlock, GivenCell } from '../components/given.js';
import { Failure, useLoaded } from '../components/loaded.js';
import { beginningOf, markedText } from '../components/marked-text.js';
import { bytes, count } from '../components/time.js';
import { VirtualList } from '../components/virtual-list.js';
import { place, writePlace } from '../place.js';
import { type BlamedLine, blameLines } from './blame-lines.js';
import type { Token } from './highlight.js';
import { hrefOf, type RepositoryPath, stepsOf } from './paths.js';
import { Tokens } from './tokens.js';

export interface FileProps {
  readonly name: string;
  readonly at: RepositoryPath;
  readonly found: FoundContent;
}

/** Shows the lines of a text file, the size of a binary file, or the commit id of a submodule. */
export function File({ name, at, found }: FileProps) {
  const isBlamed = place.value.params.blame === 'on';
  if (!isBlob(found)) {
    return (
      <p>
        A {kindOf({ ...found })}: commit <code>{found.oid}</code> of another repository.
      </p>
    );
  }
  const text = textOf(found);
  return (
    <>
      <div class="toolbar file-head">
        <span class="quiet figures">
          {bytes(found.size)} {kindOf(found)} {found.mode} <code>{found.oid.slice(0, 12)}</code>
        </span>
        {text !== undefined && (
          <>
            <a class="button" href={hrefOf(at, { blame: isBlamed ? '' : 'on' })} aria-current={isBlamed}>
              {isBlamed ? 'Hide blame' : 'Blame'}
            </a>
            <CopyButton text={text} label={found.is_truncated ? 'Copy the shown text' : 'Copy'} />
          </>
        )}
      </div>
      {found.is_truncated && (
        <p class="quiet">
          The file is {bytes(found.size)}; its first {bytes(1024 * 1024)} are shown.
        </p>
      )}
      {text === undefined ? (
        <p class="quiet">Binary, {bytes(found.size)}: not shown.</p>
      ) : text === '' ? (
        <p class="quiet">The file is empty.</p>
      ) : (
        <Lines name={name} at={at} found={found} text={text} isBlamed={isBlamed} />
      )}
    </>
  );
}

function isBlob(found: FoundContent): found is FoundContent & BlobRecord {
  return found.type === 'blob';
}

/**
 * Returns the text of a file; undefined if its first 8,000 bytes contain a zero byte. Git treats such a file as binary
 * too. Content that is not UTF-8 arrives in base64.
 */
export function textOf({ encoding, content }: BlobRecord): string | undefined {
  const isText = encoding === 'utf-8';
  const decoded = isText ? content : atob(content);
  if (decoded.slice(0, 8_000).includes('\0')) return undefined;
  const read = new TextDecoder('utf-8', { ignoreBOM: true });
  return isText ? content : read.decode(Uint8Array.from(decoded, (character) => character.charCodeAt(0)));
}

/** Height in pixels of each line of the shown file. */
const HEIGHT = 24;
/**
 * Maximum number of UTF-16 code units that are shown of each line of a file. A longer line has a button that opens the
 * complete line in a dialog.
 */
const MAX_OF_LINE = 2_000;

interface LinesProps extends FileProps {
  readonly text: string;
  readonly isBlamed: boolean;
}

function Lines({ name, at, found, text, isBlamed }: LinesProps) {
  const [opened, setOpened] = useState<number>();
  const { lines, longest } = useMemo(() => splitLines(text), [text]);
  const tokens = useTokens(stepsOf(at).at(-1)?.name ?? '', text);
  const { value: blame, error } = useLoaded(
    async (signal) => {
      if (!isBlamed) return undefined;
      const query = { ref: found.commit, ...at };
      return blameLines(await get<Blame>(route`repositories/${name}/blame`, { query, signal }));
    },
    [name, found.commit, at.path, at.path_bytes, isBlamed],
  );
  const { line } = place.value.params;
  const target = line === undefined ? undefined : Number.parseInt(line, 10) - 1;
  const digits = `${lines.length}`.length;
  const width = `${Math.min(longest, MAX_OF_LINE) + digits + 4 + (isBlamed ? 34 : 0)}ch`;
  return (
    <>
      <Failure error={error} />
      <div class="source mono">
        <VirtualList
          label="Lines"
          count={lines.length}
          rowHeight={HEIGHT}
          opened={target}
          row={(row) => (
            <div class={`source-line${row === target ? ' is-open' : ''}`} style={{ '--longest': width }}>
              {isBlamed && <BlameCell name={name} blamed={blame?.[row]} />}
              <a class="line-number" style={{ minWidth: `${digits + 2}ch` }} href={hrefOf(at, { line: `${row + 1}` })}>
                <span class="visually-hidden">Line </span>
                {row + 1}
              </a>
              <Code line={lines[row]!} tokens={tokens?.[row]} />
              {lines[row]!.length > MAX_OF_LINE && (
                <button type="button" class="small line-more" onClick={() => setOpened(row)}>
                  {count(lines[row]!.length - MAX_OF_LINE)} more characters
                </button>
              )}
            </div>
          )}
        />
      </div>
      {opened !== undefined && (
        <Dialog title={`Line ${opened + 1}`} onClose={() => setOpened(undefined)}>
          <GivenBlock text={lines[opened]!} />
        </Dialog>
      )}
    </>
  );
}

function splitLines(text: string): { lines: string[]; longest: number } {
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  return { lines, longest: lines.reduce((max, line) => Math.max(max, line.length), 0) };
}

/**
 * Returns the coloured parts of each line of a file (syntax highlighting). Returns undefined if the language is unknown
 * or the highlighter is still being loaded. The lines are then shown without colours.
 */
function useTokens(path: string, text: string): Token[][] | undefined {
  const { value } = useLoaded(async () => {
    const { highlight } = await import('./highlight.js');
    return { text, tokens: highlight(path, text) };
  }, [path, text]);
  return value?.text === text ? value.tokens : undefined;
}

function Code({ line, tokens }: { readonly line: string; readonly tokens: readonly Token[] | undefined }) {
  const shown: readonly Token[] = tokens ?? [{ text: beginningOf(line, MAX_OF_LINE) }];
  return (
    <code class="given code">
      <Tokens tokens={shown} />
    </code>
  );
}

function BlameCell({ name, blamed }: { readonly name: string; readonly blamed: BlamedLine | undefined }) {
  if (blamed === undefined) return <span class="blame" />;
  const { commit, isFirst, age } = blamed;
  return (
    <span class={`blame age-${age}${isFirst ? ' is-first' : ''}`}>
      {isFirst && (
        <>
          <a
            href={writePlace('repository', { name, tab: 'commits', commit: commit.oid })}
            title={markedText(beginningOf(commit.subject, 200))}
          >
            {commit.oid.slice(0, 8)}
          </a>
          <span class="blame-author">
            <GivenCell text={commit.author} most={40} />
          </span>
          <time class="figures quiet" dateTime={commit.committed_at}>
            {commit.committed_at.slice(0, 10)}
          </time>
        </>
      )}
    </span>
  );
}

/** Describes the type of an entry of a Git tree, such as `folder` or `symbolic link`; empty for a regular file. */
export function kindOf({ type, mode }: Pick<TreeEntry, 'type' | 'mode'>): string {
  if (type === 'tree') return 'folder';
  if (type === 'commit') return 'submodule';
  return mode === '120000' ? 'symbolic link' : mode === '100755' ? 'executable' : '';
}
