import { useMemo } from 'preact/hooks';
import { Given } from '../components/given.js';
import { useMore } from '../components/lists.js';
import { loadCode, useLoaded } from '../components/loaded.js';
import type { Token } from './highlight.js';
import { type PatchLine, readPatch } from './patch.js';
import { Tokens } from './tokens.js';

/**
 * Number of lines of a patch that are shown at first. Each click on the button below them adds `STEP` lines. Also the
 * maximum number of changed lines of a file that the page expands by itself.
 */
export const MAX_LINES_OPEN = 300;
const STEP = 1_000;

/** Maximum number of UTF-16 code units that are shown of each line at first. A longer line is shown without colours. */
const MAX_OF_LINE = 1_000;

const SIGNS = { added: '+', removed: '−', same: '', heading: '', remark: '' };

export interface PatchLinesProps {
  /** Patch of one file, as `git diff` prints it. */
  readonly patch: string;
  /** Name of the file, which determines the language of its lines. */
  readonly path: string;
  /** Previous name of a renamed file; undefined for other files. */
  readonly oldPath: string | undefined;
}

/** Lines of a patch, with their line numbers in the old and the new file, and with colours for the parts of the code. */
export function PatchLines({ patch, path, oldPath = path }: PatchLinesProps) {
  const lines = useMemo(() => readPatch(patch), [patch]);
  const tokens = useTokens(lines, path, oldPath);
  const { shown, more } = useMore(lines, { first: MAX_LINES_OPEN, step: STEP, of: 'lines' });
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
            <th>Old line</th>
            <th>New line</th>
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
                <Code text={text} tokens={tokens?.[at]} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {more}
    </>
  );
}

function Code({ text, tokens }: { readonly text: string; readonly tokens: readonly Token[] | undefined }) {
  if (tokens === undefined || text.length > MAX_OF_LINE) return <Given text={text} most={MAX_OF_LINE} hasLines />;
  return (
    <bdi class="given">
      <Tokens tokens={tokens} />
    </bdi>
  );
}

/**
 * Returns the coloured parts of each line of a patch (syntax highlighting). Returns undefined if the highlighter is
 * still being loaded. The lines are then shown without colours.
 */
function useTokens(lines: readonly PatchLine[], path: string, oldPath: string) {
  const { value } = useLoaded(async () => {
    const { highlightPatch } = await loadCode(import('./highlight-patch.js'));
    return { lines, tokens: highlightPatch(lines, { path, oldPath }) };
  }, [lines, path, oldPath]);
  return value?.lines === lines ? value.tokens : undefined;
}
