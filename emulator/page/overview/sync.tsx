import type { SyncRecord } from '@emulator/admin/repository-activity.js';
import { get, route } from '../api/client.js';
import { Facts } from '../components/facts.js';
import { useLoaded } from '../components/loaded.js';
import { count, DateTime } from '../components/time.js';
import { Part } from './part.js';

/** Milliseconds between two requests that read the state of the sync. The end of a sync causes no event. */
const PAUSE = 2_000;

const ACCESS = { app: 'application of the organization', public: 'none', credential: 'Git credential' } as const;

/** Part of the overview with the syncs of a repository with its upstream: the running one, and the last that ended. */
export function Sync({ name }: { readonly name: string }) {
  const loaded = useLoaded((signal) => get<SyncRecord>(route`repositories/${name}/sync`, { signal }), [name], PAUSE);
  return (
    <Part title="Upstream syncs" loaded={loaded}>
      {({ upstream, runs, running_since: since, last }) => (
        <Facts
          facts={[
            ['Upstream', upstream ? `${upstream.provider}: ${upstream.owner}/${upstream.name}` : 'detached'],
            ['Host', upstream?.host],
            ['Credential', upstream ? ACCESS[upstream.access] : undefined],
            [
              'Running',
              since !== null && (
                <>
                  since <DateTime at={since} />
                </>
              ),
            ],
            ['Last sync', last ? <Outcome outcome={last.outcome} /> : 'none has finished'],
            ['Started', last ? <DateTime at={last.started_at} /> : undefined],
            ['Ended', last ? <DateTime at={last.completed_at} /> : undefined],
            ['Error', last?.error],
            ['Finished syncs', count(runs), 'figures'],
          ]}
        />
      )}
    </Part>
  );
}

function Outcome({ outcome }: { readonly outcome: NonNullable<SyncRecord['last']>['outcome'] }) {
  return <strong class={outcome === 'failed' ? 'failed' : 'passed'}>{outcome}</strong>;
}
