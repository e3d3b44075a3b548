import type { RefRecord } from '@emulator/admin/repository-refs.js';
import { Choice, type Option } from '../components/fields.js';
import { beginningOf, markedText } from '../components/marked-text.js';
import { labelOf } from './ref-label.js';

export interface RefChoiceProps {
  readonly refs: readonly RefRecord[];
  readonly chosen: string;
  /** Options that are listed above the refs, such as `Branches and tags`, each with its value and its text. */
  readonly first: readonly (readonly [value: string, text: string])[];
  readonly onChoose: (ref: string) => void;
}

/**
 * Maximum number of refs that can be selected, because a repository can have many more. The tab `Refs` lists all refs.
 */
const MAX_OFFERED = 1_000;

export function RefChoice({ refs, chosen, first, onChoose }: RefChoiceProps) {
  const offered = refs.filter(({ commit }) => commit !== null).slice(0, MAX_OFFERED);
  const isOffered = first.some(([value]) => value === chosen) || offered.some((ref) => askedAs(ref) === chosen);
  return (
    <Choice
      label="Ref"
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
 * Returns the revision that the page sends to the admin API for a ref: the name of the ref, or the id of its commit if
 * the name is not UTF-8, because a URL of the admin API can contain only a UTF-8 name.
 */
export function askedAs({ name, name_bytes, commit }: RefRecord): string {
  return name_bytes === undefined ? name : (commit ?? name);
}

/**
 * Groups refs by the heading under which the page lists them, such as `Branches`. The order of the groups is that of
 * their first refs.
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
 * Returns the heading under which the page lists a ref: its Git namespace (`refs/namespaces/…`) if it is in one,
 * otherwise its kind.
 */
function groupOf({ namespace, kind }: RefRecord): string {
  if (namespace !== null) return `Namespace ${namespace}`;
  return { branch: 'Branches', tag: 'Tags', note: 'Notes', other: 'Others' }[kind];
}

function shortened(text: string): string {
  return markedText(beginningOf(text, 80));
}
