import { GivenCell } from '../components/given.js';

/** Short name of a ref, in the colour of its kind. */
export function Ref({ name }: { readonly name: string }) {
  const { kind, text } = labelOf(name);
  return (
    <span class={`ref ref-${kind}`}>
      {kind === 'tag' && <span class="visually-hidden">tag </span>}
      <GivenCell text={text} most={80} />
    </span>
  );
}

/** Label of a ref and the class of its colour. */
export interface RefLabel {
  readonly kind: 'head' | 'tag' | 'note' | 'other';
  readonly text: string;
}

const PLACES = [
  ['refs/heads/', 'head'],
  ['refs/tags/', 'tag'],
  ['refs/notes/', 'note'],
] as const;

/**
 * Returns the label of a ref: `refs/heads/main` is `main`, `refs/namespaces/ephemeral/refs/heads/x` is `ephemeral: x`.
 */
export function labelOf(ref: string): RefLabel {
  const [, namespace, inside = ref] = /^refs\/namespaces\/([^/]+)\/(.*)$/s.exec(ref) ?? [];
  const [place, kind] = PLACES.find(([start]) => inside.startsWith(start)) ?? ['', 'other' as const];
  const text = inside.slice(place.length);
  return {
    kind: namespace === undefined ? kind : 'other',
    text: namespace === undefined ? text : `${namespace}: ${text}`,
  };
}
