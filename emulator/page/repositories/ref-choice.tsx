import type { RefRecord } from '@emulator/admin/repository-refs.js';
import { Choice, type Option } from '../components/fields.js';
import { beginningOf, markedText } from '../components/marked-text.js';
import { labelOf } from './ref-label.js';

export interface RefChoiceProps {
  /** Label of the field; `Ref` by default. */
  readonly label?: string;
  readonly refs: readonly RefRecord[];
  readonly chosen: string;
  /** Options that are listed above the refs, such as `Branches and tags`. Each option has a value and a text. */
  readonly first: readonly (readonly [value: string, text: string])[];
  readonly onChoose: (ref: string) => void;
}

/** Maximum number of refs that the field offers. A repository can have many more; the tab `Refs` lists all of them. */
const MAX_OFFERED = 1_000;

export function RefChoice({ label = 'Ref', refs, chosen, first, onChoose }: RefChoiceProps) {
  const offered = refs.filter(({ commit }) => commit !== null).slice(0, MAX_OFFERED);
  const isOffered = first.some(([value]) => value === chosen) || offered.some((ref) => askedAs(ref) === chosen);
  return (
    <Choice
      label={label}
      fieldClass="inline ref-choice"
      value={chosen}
      options={isOffered ? first : [...first, [chosen, shortened(chosen)]]}
      groups={Array.from(grouped(offered), ([group, members]) => [markedText(group), members.map(optionOf)])}
      onChange={onChoose}
    />
  );
}

const optionOf = (ref: RefRecord): Option => [askedAs(ref), shortened(labelOf(ref.name).text)];

/**
 * Returns the revision that stands for a ref in requests to the admin API. This is the name of the ref, or the id of
 * its commit if the name is not UTF-8. A URL of the admin API can contain only UTF-8 names.
 */
export function askedAs({ name, name_bytes, commit }: RefRecord): string {
  return name_bytes === undefined ? name : (commit ?? name);
}

/**
 * Groups refs by the heading under which the page lists them, such as `Branches`. The groups are in the order of their
 * first refs.
 */
export function grouped(refs: readonly RefRecord[]): ReadonlyMap<string, RefRecord[]> {
  const groups = new Map<string, RefRecord[]>();
  for (const ref of refs) {
    const group = groupOf(ref);
    const members = groups.get(group);
    if (members) members.push(ref);
    else groups.set(group, [ref]);
  }
  return groups;
}

/**
 * Returns the heading under which the page lists a ref. For a ref in a Git namespace (`refs/namespaces/…`), this is the
 * namespace; otherwise, it is the kind of the ref.
 */
function groupOf({ namespace, kind }: RefRecord): string {
  if (namespace !== null) return `Namespace ${namespace}`;
  return { branch: 'Branches', tag: 'Tags', note: 'Notes', other: 'Others' }[kind];
}

/** Returns the short name of a revision, such as `main` for `refs/heads/main`. Hidden characters are marked. */
export function shortName(revision: string): string {
  if (/^[0-9a-f]{40}$/.test(revision)) return revision.slice(0, 12);
  return shortened(labelOf(revision).text);
}

function shortened(text: string): string {
  return markedText(beginningOf(text, 80));
}
