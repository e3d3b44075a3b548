import type { VNode } from 'preact';
import { useEffect, useLayoutEffect, useMemo, useReducer, useRef, useState } from 'preact/hooks';
import { route } from '../api/client.js';
import { Empty, Loading } from '../components/feedback.js';
import { GivenCell } from '../components/given.js';
import { useListener } from '../components/listener.js';
import { usePrinting } from '../components/printing.js';
import { useRowFocus } from '../components/row-focus.js';
import { count } from '../components/time.js';
import { type ListControl, VirtualList } from '../components/virtual-list.js';
import { go, place, writePlace } from '../place.js';
import { CloneLine } from './clone-line.js';
import { Commit } from './commit.js';
import { CommitHistory } from './commit-history.js';
import { CommitTime } from './commit-time.js';
import { GraphCell, measureLanes } from './graph-cell.js';
import type { GraphCommit, Opened } from './records.js';
import { RefChoice } from './ref-choice.js';
import { Ref } from './ref-label.js';

/** Pixels of a row, and of the graph at most, where there is room beside it and where there is little. */
const WIDE = { row: 30, graph: 320, from: 700 };
const NARROW = { row: 48, graph: 84 };

/** Always the same function: with another one the list would number all rows anew. */
const keyOf = (at: number) => at;
/** Rows that are kept as they were drawn, so that scrolling draws only new ones. */
const MOST_DRAWN = 400;

const ALL = 'all refs';
const MOST_LABELS = 3;

/** The history as a graph, one commit a row, and one of them beside it. */
export function Commits({ opened: { record, refs } }: { readonly opened: Opened }) {
  const { name } = record;
  const { ref = '', commit, all } = place.value.params;
  const isAll = all === 'true';
  const history = useHistory(name, ref, isAll);
  const hrefOf = (params: Readonly<Record<string, string | undefined>>) =>
    writePlace('repository', { name, tab: 'commits', ref, all, commit, ...params });
  const close = () => go(hrefOf({ commit: '' }));
  useListener(document.body, 'keydown', (event) => {
    const isElsewhere = event.target instanceof Element && event.target.closest('dialog, input, select') !== null;
    if (event.key === 'Escape' && commit !== undefined && !isElsewhere) close();
  });
  const choose = (chosen: string) =>
    go(hrefOf({ ref: chosen === ALL ? '' : chosen, all: chosen === ALL ? 'true' : '', commit: '' }));
  return (
    <div class={`commits fill${commit === undefined ? '' : ' has-detail'}`}>
      <div class="toolbar">
        <RefChoice
          refs={refs}
          chosen={isAll ? ALL : ref}
          first={[
            ['', 'Branches and tags'],
            [ALL, 'All refs, of all namespaces'],
          ]}
          onChoose={choose}
        />
        <span class="quiet figures" role="status">
          {history.total !== undefined && `${count(history.total)} ${history.total === 1 ? 'commit' : 'commits'}`}
        </span>
      </div>
      <Loading value={history.total} error={history.error} />
      <div class="panes">
        <div class="list-pane">
          {history.total === 0 && (
            <Empty title="No commit here yet">
              <p>Clone it, commit, and push:</p>
              <CloneLine name={name} />
            </Empty>
          )}
          {(history.total ?? 0) > 0 && (
            <CommitRows history={history} opened={commit} hrefOf={(oid) => hrefOf({ commit: oid })} />
          )}
        </div>
        {commit !== undefined && (
          <section class="detail-pane" aria-label={`Commit ${commit.slice(0, 8)}`}>
            <Commit key={commit} name={name} oid={commit} hrefOf={(oid) => hrefOf({ commit: oid })} onClose={close} />
          </section>
        )}
      </div>
    </div>
  );
}

function useHistory(name: string, ref: string, isAll: boolean): CommitHistory {
  const [, redraw] = useReducer((times: number) => times + 1, 0);
  const history = useMemo(() => {
    const query = isAll ? { all: true } : { ref: ref === '' ? undefined : ref };
    return new CommitHistory(route`repositories/${name}/graph`, query, () => redraw(undefined));
  }, [name, ref, isAll]);
  useEffect(() => {
    void history.reach(0);
    return () => history.stop();
  }, [history]);
  return history;
}

interface CommitRowsProps {
  readonly history: CommitHistory;
  readonly opened: string | undefined;
  readonly hrefOf: (oid: string) => string;
}

function CommitRows({ history, opened, hrefOf }: CommitRowsProps) {
  const box = useRef<HTMLDivElement>(null);
  const control = useRef<ListControl>(null);
  const isWide = useIsWide(box);
  const isPrinting = usePrinting();
  const { commits, layout, total = 0 } = history;
  const openedAt = useMemo(() => commits.findIndex(({ oid }) => oid === opened), [opened, commits.length]);
  const focus = useRowFocus({ box, control, count: total, start: Math.max(openedAt, 0) });
  const size = isWide ? WIDE : NARROW;
  useOpened(box, control, opened, openedAt, size.row);
  const { width, pitch } = measureLanes(layout, size.graph);
  const { stop } = focus;
  const drawn = useMemo(() => new Map<number, VNode>(), [history, isWide, width, pitch, opened, stop]);
  const row = (at: number) => {
    const commit = commits[at];
    if (commit === undefined) return <div class="commit-row quiet">…</div>;
    const found = drawn.get(at);
    if (found) return found;
    if (drawn.size > MOST_DRAWN) drawn.clear();
    const isOpen = commit.oid === opened;
    const isMerge = commit.parents.length > 1;
    const made = (
      <div class={`commit-row${isOpen ? ' is-open' : ''}`}>
        <GraphCell {...{ layout, width, pitch, isMerge, row: at, height: size.row }} />
        <CommitCells commit={commit} at={at} isStop={at === stop} isOpen={isOpen} href={hrefOf(commit.oid)} />
      </div>
    );
    drawn.set(at, made);
    return made;
  };
  return (
    <div ref={box} class={`commit-rows ${isWide ? 'wide' : 'narrow'}`}>
      {isPrinting && commits.length < total && (
        <p>
          The latest {count(commits.length)} of {count(total)} commits.
        </p>
      )}
      <VirtualList
        label="Commits, newest first"
        count={total}
        rowHeight={size.row}
        printed={commits.length}
        keyOf={keyOf}
        onReach={(last) => void history.reach(last)}
        control={control}
        row={row}
      />
    </div>
  );
}

/** Brings the open commit into view when it is opened and known, and keeps it there; who closes it goes on from its row. */
function useOpened(
  box: { readonly current: HTMLElement | null },
  control: { readonly current: ListControl | null },
  opened: string | undefined,
  at: number,
  rowHeight: number,
): void {
  const revealed = useRef<{ readonly oid: string; readonly at: number }>();
  useEffect(() => {
    const before = revealed.current;
    if (opened !== undefined && at >= 0 && before?.oid !== opened) {
      revealed.current = { oid: opened, at };
      control.current?.reveal(at);
    }
    if (opened !== undefined || before === undefined) return;
    revealed.current = undefined;
    if (document.activeElement !== document.body) return;
    box.current?.querySelector<HTMLElement>(`[data-row="${before.at}"]`)?.focus({ preventScroll: true });
  }, [opened, at]);
  useEffect(() => {
    const { at: row } = revealed.current ?? { at: -1 };
    if (row >= 0) control.current?.reveal(row);
  }, [rowHeight]);
}

interface CommitCellsProps {
  readonly commit: GraphCommit;
  readonly at: number;
  readonly isStop: boolean;
  readonly isOpen: boolean;
  readonly href: string;
}

function CommitCells({ commit, at, isStop, isOpen, href }: CommitCellsProps) {
  const { oid, subject, author, committed_at, refs = [] } = commit;
  return (
    <>
      <span class="commit-subject">
        {refs.slice(0, MOST_LABELS).map((ref) => (
          <Ref key={ref} name={ref} />
        ))}
        {refs.length > MOST_LABELS && <span class="quiet">+{refs.length - MOST_LABELS}</span>}
        <a
          class="row-link cut"
          href={href}
          data-row={at}
          tabIndex={isStop ? 0 : -1}
          aria-current={isOpen ? 'true' : undefined}
        >
          {subject === '' ? <span class="quiet">no message</span> : <GivenCell text={subject} />}
        </a>
      </span>
      <span class="commit-author cut">
        <GivenCell text={author} most={60} />
      </span>
      <span class="commit-time">
        <CommitTime at={committed_at} />
      </span>
      <code class="commit-oid quiet">{oid.slice(0, 8)}</code>
    </>
  );
}

function useIsWide(box: { readonly current: HTMLElement | null }): boolean {
  const [isWide, setWide] = useState(() => innerWidth >= WIDE.from);
  useLayoutEffect(() => {
    const watch = new ResizeObserver(([entry]) => setWide(entry!.contentRect.width >= WIDE.from));
    watch.observe(box.current!);
    return () => watch.disconnect();
  }, []);
  return isWide;
}
