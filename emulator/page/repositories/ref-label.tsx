import { GivenCell } from '../components/given.js';
import { labelOf } from './ref-names.js';

/** The short name of a ref, in the colour of its kind. */
export function Ref({ name }: { readonly name: string }) {
  const { kind, text } = labelOf(name);
  return (
    <span class={`ref ref-${kind}`}>
      {kind === 'tag' && <span class="visually-hidden">tag </span>}
      <GivenCell text={text} most={80} />
    </span>
  );
}
