import { Parts } from '../components/given.js';
import type { Token } from './highlight.js';

/** Line of source code, with each part in the colour of its kind. Hidden characters are marked. */
export function Tokens({ tokens }: { readonly tokens: readonly Token[] }) {
  return (
    <>
      {tokens.map(({ text, kind }, at) => (
        <span key={at} class={kind === undefined ? undefined : `token-${kind}`}>
          <Parts text={text} hasLines />
        </span>
      ))}
    </>
  );
}
