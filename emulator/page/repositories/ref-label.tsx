import { GivenCell } from '../components/given.js';

/** Short name of a Git ref, such as `main`. Its colour stands for the kind of the ref (branch, tag, note or other). */
export function Ref({ name }: { readonly name: string }) {
  const { kind, text } = labelOf(name);
  return (
    <span class={`ref ref-${kind}`}>
      {kind === 'tag' && <span class="visually-hidden">tag </span>}
      <GivenCell text={text} most={80} />
    </span>
  );
}

/** Short name of a Git ref, such as `main`, and the kind of the ref. The kind selects the colour in the style sheet. */
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
 * Returns the kind and the short name of a ref: `refs/heads/main` → `main`. If the ref is in a Git namespace, the short
 * name begins with the namespace: `refs/namespaces/ephemeral/refs/heads/x` → `ephemeral: x`.
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
