import type { LfsLockRecord, LfsObjectList } from '@emulator/admin/repository-activity.js';
import { get, type Page, route } from '../api/client.js';
import { GivenCell } from '../components/given.js';
import { useLoaded } from '../components/loaded.js';
import { Table } from '../components/table.js';
import { bytes, count, DateTime } from '../components/time.js';
import { Part } from './part.js';

/** Number of LFS objects that are shown, and number of locks that are shown at first. */
const MAX_ROWS = 5;

/** Maximum number of locks that the part reads. */
const MAX_LOCKS = 100;

/** Part of the overview with the newest Git LFS objects of the repository, and with its locks. */
export function Lfs({ name }: { readonly name: string }) {
  const loaded = useLoaded(
    async (signal) => {
      const read = <T,>(path: string, limit: number) => get<T>(path, { query: { limit }, signal });
      const [objects, locks] = await Promise.all([
        read<LfsObjectList>(route`repositories/${name}/lfs/objects`, MAX_ROWS),
        read<Page<LfsLockRecord>>(route`repositories/${name}/lfs/locks`, MAX_LOCKS),
      ]);
      return { objects, locks };
    },
    [name],
  );
  return (
    <Part title="Git LFS" loaded={loaded}>
      {({ objects, locks }) =>
        objects.total === 0 && locks.items.length === 0 ? (
          <p class="quiet">The repository has no LFS objects and no locks.</p>
        ) : (
          <>
            <Objects list={objects} />
            <h3>{locks.has_more ? `The first ${count(MAX_LOCKS)} locks` : 'Locks'}</h3>
            <Table
              label="LFS locks"
              empty="No file is locked."
              items={locks.items}
              keyOf={({ id }) => id}
              most={MAX_ROWS}
              columns={[
                ['Path', ({ path }) => <GivenCell text={path} />, 'cell-text mono'],
                ['Owner', ({ owner }) => <GivenCell text={owner} most={60} />, 'cell-text'],
                ['Since', ({ locked_at }) => <DateTime at={locked_at} />],
              ]}
            />
          </>
        )
      }
    </Part>
  );
}

function Objects({ list: { items, total, total_bytes } }: { readonly list: LfsObjectList }) {
  return (
    <>
      <p class="figures">
        {count(total)} {total === 1 ? 'object' : 'objects'}, {bytes(total_bytes)}
        {total > items.length && `; the newest ${count(items.length)}:`}
      </p>
      {total > 0 && (
        <Table
          label="LFS objects"
          items={items}
          keyOf={({ oid }) => oid}
          columns={[
            ['Object', ({ oid }) => <code title={oid}>{oid.slice(0, 12)}</code>],
            ['Size', ({ size }) => bytes(size), 'number nowrap'],
            ['Stored', ({ stored_at }) => <DateTime at={stored_at} />],
          ]}
        />
      )}
    </>
  );
}
