import type { ComponentChildren } from 'preact';
import { type Loaded, Loading } from '../components/loaded.js';

export interface PartProps<T> {
  readonly title: string;
  readonly loaded: Pick<Loaded<T>, 'value' | 'error'>;
  /** Address and text of a link beside the heading; the link leads to more of the same. */
  readonly link?: readonly [href: string, text: string];
  /** Returns the content of the part for the loaded value. */
  readonly children: (value: T) => ComponentChildren;
}

/** Part of the overview of a repository: a box with a heading, whose content is loaded from the emulator. */
export function Part<T>({ title, loaded: { value, error }, link, children }: PartProps<T>) {
  return (
    <section class="card" aria-label={title}>
      <header class="part-head">
        <h2>{title}</h2>
        {link && <a href={link[0]}>{link[1]}</a>}
      </header>
      <Loading value={value} error={error} />
      {value !== undefined && children(value)}
    </section>
  );
}
