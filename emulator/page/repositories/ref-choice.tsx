import type { RefRecord } from '@emulator/admin/repository-refs.js';
import { Choice, type Option } from '../components/fields.js';
import { beginningOf, markedText } from '../components/marked-text.js';
import { labelOf } from './ref-label.js';

export interface RefChoiceProps {
  readonly refs: readonly RefRecord[];
  readonly chosen: string;
  /** Options listed before the refs: values and texts. */
  readonly first: readonly (readonly [value: string, text: string])[];
  readonly onChoose: (ref: string) => void;
}

/** Maximum number of refs offered; the list of refs contains the others. */
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

/** Returns the revision to request for a ref. A name that is not UTF-8 cannot be sent, so its commit is used. */
export function askedAs({ name, name_bytes, commit }: RefRecord): string {
  return name_bytes === undefined ? name : (commit ?? name);
}

/** Groups refs by heading, in the order of first occurrence. */
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

/** Returns the heading of a ref. */
function groupOf({ namespace, kind }: RefRecord): string {
  if (namespace !== null) return `Namespace ${namespace}`;
  return { branch: 'Branches', tag: 'Tags', note: 'Notes', other: 'Others' }[kind];
}

function shortened(text: string): string {
  return markedText(beginningOf(text, 80));
}
