import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { beginningOf, markedText, partsOf } from './marked-text.js';
import { count } from './time.js';

/*
 * Text that was sent or pushed: it is never markup, what hides in it is marked (`marked-text.ts`), its direction stays
 * within it, and what is long is cut.
 */

export interface GivenProps {
  readonly text: string;
  /** Characters that are shown at first. */
  readonly most?: number;
}

/** Characters that one click shows: more of them in one line would keep the browser busy. */
const STEP = 100_000;

export interface GivenTextProps extends GivenProps {
  /** True if tabs and line feeds are as they are, as in a line of a file. */
  readonly hasLines?: boolean;
}

/** In running text. What is cut can be shown. */
export function Given({ text, most = 500, hasLines = false }: GivenTextProps) {
  const { shown, more } = useCut(text, most);
  return (
    <>
      <bdi class="given">
        <Parts text={shown} hasLines={hasLines} />
      </bdi>
      {more}
    </>
  );
}

/** Returns a text as `Given`, and anything else as it is. */
export function shownText(content: ComponentChildren): ComponentChildren {
  return typeof content === 'string' ? <Given text={content} /> : content;
}

/** In one line of a row, which ends in an ellipsis; the tooltip has more of it. */
export function GivenCell({ text, most = 200 }: GivenProps) {
  const shown = beginningOf(text, most);
  return (
    <bdi class="cut" title={markedText(beginningOf(text, 2_000))}>
      <Parts text={shown} />
      {shown.length < text.length && '…'}
    </bdi>
  );
}

/** Text of several lines, as it is laid out. What is cut can be shown. */
export function GivenBlock({ text, most = 10_000 }: GivenProps) {
  const { shown, more } = useCut(text, most);
  return (
    <>
      <pre class="given given-block">
        <Parts text={shown} hasLines />
      </pre>
      {more}
    </>
  );
}

/** A text as it is, with marks for what hides in it. */
export function Parts({ text, hasLines = false }: Omit<GivenTextProps, 'most'>) {
  return (
    <>
      {partsOf(text, { hasLines }).map(({ text: part, stands }) =>
        stands === undefined ? (
          part
        ) : (
          <span class="unseen" title={stands}>
            {part}
          </span>
        ),
      )}
    </>
  );
}

/** How much of a text is shown, and the button that shows more. */
function useCut(text: string, most: number) {
  const [wanted, setWanted] = useState({ text, most });
  const limit = wanted.text === text ? wanted.most : most;
  const shown = beginningOf(text, limit);
  const left = text.length - shown.length;
  const more = left > 0 && (
    <button type="button" class="small more" onClick={() => setWanted({ text, most: limit + STEP })}>
      {left > STEP ? `Show ${count(STEP)} of ${count(left)} more characters` : `Show all (${count(left)} more)`}
    </button>
  );
  return { shown, more };
}
