import type { CommitDiff } from '@emulator/admin/repository-diff.js';
import { useState } from 'preact/hooks';
import { get, route } from '../api/client.js';
import { Choice } from '../components/fields.js';
import { Loading, useLoaded } from '../components/loaded.js';
import { ChangeCounts, ChangedFiles, type FileQuery } from './changed-files.js';

export interface DiffProps {
  readonly name: string;
  readonly oid: string;
  readonly parents: readonly string[];
}

/** Diff between a commit and one of its parents. If the commit has several parents, the user can choose one. */
export function Diff({ name, oid, parents }: DiffProps) {
  const [parent, setParent] = useState(1);
  const path = route`repositories/${name}/commits/${oid}/diff`;
  const query = { parent: parents.length > 1 ? parent : undefined };
  const load = (file: FileQuery, signal?: AbortSignal) =>
    get<CommitDiff>(path, { query: { ...query, ...file }, signal });
  const { value: diff, error } = useLoaded((signal) => load({}, signal), [path, parent]);
  return (
    <section class="diff" aria-label="Changes">
      <h3 class="figures">
        {diff ? <ChangeCounts {...diff.stats} /> : 'Changes'}
        {parents.length > 1 && (
          <Choice
            label="Compare with"
            fieldClass="inline parent-choice"
            value={`${parent}`}
            options={parents.map((each, at) => [`${at + 1}`, `parent ${at + 1}: ${each.slice(0, 8)}`] as const)}
            onChange={(number) => setParent(Number(number))}
          />
        )}
      </h3>
      <Loading value={diff} error={error} />
      {diff && <ChangedFiles name={name} diff={diff} load={load} />}
    </section>
  );
}
