import { useEffect, useMemo, useReducer, useRef } from 'preact/hooks';
import { route } from '../api/client.js';
import { GivenCell } from '../components/given.js';
import { useEscape, usePrinting, useWidth } from '../components/hooks.js';
import { Empty, Loading } from '../components/loaded.js';
import { CommitTime, count } from '../components/time.js';
import { VirtualList } from '../components/virtual-list.js';
import { go, place, placeWith, writePlace } from '../place.js';
import { CloneLine } from './clone-line.js';
import { Commit } from './commit.js';
import { CommitHistory } from './commit-history.js';
import { GraphCell, measureLanes } from './graph-cell.js';
import { defaultRef, type OpenedProps } from './records.js';
import { askedAs, RefChoice } from './ref-choice.js';
import { Ref } from './ref-label.js';

/**
 * Sizes in pixels for wide and narrow lists: the height of a commit's row (`row`) and the maximum width of the commit
 * graph (`graph`). A list is wide if its width is at least `from`.
 */
const WIDE = { row: 30, graph: 320, from: 700 };
const NARROW = { row: 48, graph: 84 };

const ALL = 'all refs';
const MAX_LABELS = 3;

/**
 * Tab of a repository that shows its commit history as a graph, with one row per commit. The details of the selected
 * commit are shown beside the list.
 */
export function Commits({ opened }: OpenedProps) {
  const { record, refs } = opened;
  const { name } = record;
  const usual = defaultRef(opened);
  const { ref = '', commit, all } = place.value.params;
  const isAll = all === 'true';
  const history = useHistory(name, ref, isAll);
  const close = () => go(placeWith({ tab: 'commits', commit: '' }));
  useEscape(commit !== undefined, close);
  const choose = (chosen: string) =>
    go(placeWith({ tab: 'commits', ref: chosen === ALL ? '' : chosen, all: chosen === ALL ? 'true' : '', commit: '' }));
  return (
    <div class={`commits fill${commit === undefined ? '' : ' has-detail'}`}>
      <div class="toolbar">
        <RefChoice
          refs={refs}
          chosen={isAll ? ALL : ref}
          first={[
            ['', 'Branches and tags'],
            [ALL, 'All refs, including ref namespaces'],
          ]}
          onChoose={choose}
        />
        <span class="quiet figures" role="status">
          {history.total !== undefined && `${count(history.total)} ${history.total === 1 ? 'commit' : 'commits'}`}
        </span>
        {usual && ref !== '' && ref !== askedAs(usual) && (
          <a href={writePlace('repository', { name, tab: 'compare', base: askedAs(usual), head: ref })}>
            Compare with the default branch
          </a>
        )}
      </div>
      <Loading value={history.total} error={history.error} />
      <div class="panes">
        <div class="list-pane">
          {history.total === 0 && (
            <Empty title="No commits yet">
              <p>Clone it, commit, and push:</p>
              <CloneLine name={name} />
            </Empty>
          )}
          {(history.total ?? 0) > 0 && <CommitRows history={history} loaded={history.commits.length} opened={commit} />}
        </div>
        {commit !== undefined && (
          <section class="detail-pane" aria-label={`Commit ${commit.slice(0, 8)}`}>
            <Commit
              key={commit}
              name={name}
              oid={commit}
              compared={ref !== '' ? ref : usual && askedAs(usual)}
              onClose={close}
            />
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
  /**
   * Number of loaded commits. A component is rendered again only if its properties change. `history` stays the same
   * object when commits are added, so this property must change.
   */
  readonly loaded: number;
  readonly opened: string | undefined;
}

function CommitRows({ history, loaded, opened }: CommitRowsProps) {
  const box = useRef<HTMLDivElement>(null);
  const isWide = useWidth(box) >= WIDE.from;
  const isPrinting = usePrinting();
  const { commits, layout, total = 0 } = history;
  const openedAt = useMemo(() => commits.findIndex(({ oid }) => oid === opened), [opened, loaded]);
  const size = isWide ? WIDE : NARROW;
  const { width, pitch } = measureLanes(layout, size.graph);
  return (
    <div ref={box} class={`commit-rows ${isWide ? 'wide' : 'narrow'}`}>
      {isPrinting && loaded < total && (
        <p>
          The latest {count(loaded)} of {count(total)} commits.
        </p>
      )}
      <VirtualList
        label="Commits, newest first"
        count={total}
        rowHeight={size.row}
        printed={loaded}
        opened={openedAt < 0 ? undefined : openedAt}
        onReach={(last) => void history.reach(last)}
        row={(at, isStop) => {
          const commit = commits[at];
          if (commit === undefined) return <div class="commit-row quiet">…</div>;
          const { oid, parents, subject, author, committed_at, refs: names = [] } = commit;
          const isOpen = at === openedAt;
          return (
            <div class={`commit-row${isOpen ? ' is-open' : ''}`}>
              <GraphCell {...{ layout, width, pitch, row: at, height: size.row }} isMerge={parents.length > 1} />
              <span class="commit-subject">
                {names.slice(0, MAX_LABELS).map((ref) => (
                  <Ref key={ref} name={ref} />
                ))}
                {names.length > MAX_LABELS && <span class="quiet">+{names.length - MAX_LABELS}</span>}
                <a
                  class="row-link cut"
                  href={placeWith({ commit: oid })}
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
            </div>
          );
        }}
      />
    </div>
  );
}
