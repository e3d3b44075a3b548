import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { beginningOf, markedText, partsOf } from './marked-text.js';
import { count } from './time.js';

/*
 * Components that show text from clients of the emulator. This text is untrusted: it is never interpreted as markup,
 * and its writing direction is isolated. Hidden characters are marked (`marked-text.ts`), and long text is shortened.
 */

export interface GivenProps {
  readonly text: string;
  /** Maximum number of characters that are shown at first. */
  readonly most?: number;
}

/**
 * Number of characters that a click adds to a shortened text. Adding more characters to one line would block the
 * browser.
 */
const STEP = 100_000;

export interface GivenTextProps extends GivenProps {
  /** True if tabs and line feeds are shown unchanged, as in a line of a file. Otherwise they are marked. */
  readonly hasLines?: boolean;
}

/**
 * Inline text from clients of the emulator. A text longer than `most` characters is shortened; a button shows more of
 * it.
 */
export function Given({ text, most: max = 500, hasLines = false }: GivenTextProps) {
  const { shown, more } = useCut(text, max);
  return (
    <>
      <bdi class="given">
        <Parts text={shown} hasLines={hasLines} />
      </bdi>
      {more}
    </>
  );
}

/**
 * Shows a string with `Given`, which marks hidden characters and shortens long text. Other content is returned
 * unchanged.
 */
export function shownText(content: ComponentChildren): ComponentChildren {
  return typeof content === 'string' ? <Given text={content} /> : content;
}

export interface GivenCellProps extends GivenProps {
  /** Text of the tooltip, if `text` is only a short form of it; `text` by default. */
  readonly full?: string;
}

/**
 * Text from clients of the emulator, in one line of a table row. A long text is cut off; the tooltip shows more of it.
 */
export function GivenCell({ text, full = text, most: max = 200 }: GivenCellProps) {
  const shown = beginningOf(text, max);
  return (
    <bdi class="cut" title={markedText(beginningOf(full, 2_000))}>
      <Parts text={shown} />
      {shown.length < text.length && '…'}
    </bdi>
  );
}

/**
 * Preformatted text from clients of the emulator. A text longer than `most` characters is shortened; a button shows
 * more of it.
 */
export function GivenBlock({ text, most: max = 10_000 }: GivenProps) {
  const { shown, more } = useCut(text, max);
  return (
    <>
      <pre class="given given-block">
        <Parts text={shown} hasLines />
      </pre>
      {more}
    </>
  );
}

/**
 * Complete text from a client of the emulator. Visible marks replace its hidden characters. In contrast to `Given`, the
 * text is not shortened.
 */
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

/**
 * Returns the first `max` characters of a text, and a button that shows more. There is no button if the text is
 * complete.
 */
function useCut(text: string, max: number) {
  const [wanted, setWanted] = useState({ text, most: max });
  const limit = wanted.text === text ? wanted.most : max;
  const shown = beginningOf(text, limit);
  const left = text.length - shown.length;
  const more = left > 0 && (
    <button type="button" class="small more" onClick={() => setWanted({ text, most: limit + STEP })}>
      {left > STEP ? `Show ${count(STEP)} of ${count(left)} more characters` : `Show all (${count(left)} more)`}
    </button>
  );
  return { shown, more };
}
